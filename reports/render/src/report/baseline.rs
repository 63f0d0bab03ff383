//! Collects the findings of a scan in a baseline.

use std::io::{self, Write};

use sframe_history::FileIdentity;
use sframe_policy::Baseline;
use sframe_record::{Events, Finding, Record, Severity, Summary};

use super::Renderer;

/// Writes the errors and warnings of a scan as a baseline, at its end.
#[derive(Debug)]
pub struct BaselineWriter<W> {
    out: W,
    baseline: Baseline,
    /// The identity of the current file, once it has a finding.
    file: Option<FileIdentity>,
}

impl<W: Write> BaselineWriter<W> {
    /// A renderer that adds findings to `baseline`, and writes it to `out`.
    pub const fn new(out: W, baseline: Baseline) -> BaselineWriter<W> {
        BaselineWriter { out, baseline, file: None }
    }
}

impl<W: Write> Events for BaselineWriter<W> {
    fn begin(&mut self, _: &Record<'_>) -> io::Result<()> {
        self.file = None;
        Ok(())
    }

    fn finding(&mut self, head: &Record<'_>, finding: &Finding<'_>) -> io::Result<()> {
        if finding.severity != Severity::Lint {
            let file = self.file.get_or_insert_with(|| self.baseline.file(head));
            self.baseline.add(file, finding);
        }
        Ok(())
    }

    fn end(&mut self, _: &Record<'_>) -> io::Result<()> {
        Ok(())
    }
}

impl<W: Write> Renderer for BaselineWriter<W> {
    fn finish(&mut self, _: &Summary<'_>) -> io::Result<()> {
        self.baseline.write(&mut self.out)
    }
}
