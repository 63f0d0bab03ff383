//! HTML for a browser. The page is written at the end, because its figures come first.

use std::io::{self, Write};

use sframe_html::Report;
use sframe_record::{Events, Finding, Record, Summary};

use super::Renderer;

/// Writes one HTML page.
#[derive(Debug)]
pub struct Html<W> {
    out: W,
    report: Report,
}

impl<W: Write> Html<W> {
    /// A renderer that writes a report to `out`.
    pub const fn new(out: W, report: Report) -> Html<W> {
        Html { out, report }
    }
}

impl<W: Write> Events for Html<W> {
    fn begin(&mut self, _: &Record<'_>) -> io::Result<()> {
        Ok(())
    }

    fn finding(&mut self, head: &Record<'_>, finding: &Finding<'_>) -> io::Result<()> {
        self.report.finding(head, finding);
        Ok(())
    }

    fn end(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.report.end(record)
    }
}

impl<W: Write> Renderer for Html<W> {
    fn finish(&mut self, summary: &Summary<'_>) -> io::Result<()> {
        std::mem::take(&mut self.report).finish(summary, &mut self.out)
    }
}
