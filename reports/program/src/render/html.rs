//! HTML for a browser. The page is written at the end, because its figures come first.

use std::io::{self, Write};

use sframe_html::Report;
use sframe_record::{Finding, Record, Summary};

use super::Renderer;

/// Writes one HTML page.
#[derive(Debug)]
pub struct Html<W> {
    out: W,
    report: Report,
    started: Option<Record<'static>>,
}

impl<W: Write> Html<W> {
    /// A renderer that writes a report to `out`.
    pub const fn new(out: W, report: Report) -> Html<W> {
        Html { out, report, started: None }
    }
}

impl<W: Write> Renderer for Html<W> {
    fn begin(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn file(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.report.add(record)
    }

    fn start(&mut self, record: Record<'static>) -> io::Result<()> {
        self.started = Some(record);
        Ok(())
    }

    /// Root causes are computed from all findings of a file.
    fn findings(&mut self, findings: Vec<Finding<'static>>) -> io::Result<()> {
        if let Some(record) = &mut self.started {
            record.findings.extend(findings);
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.started.take().map_or(Ok(()), |record| self.file(&record))
    }

    fn end(&mut self, summary: &Summary<'_>) -> io::Result<()> {
        std::mem::take(&mut self.report).finish(summary, &mut self.out)
    }
}
