//! Collects the findings of a scan in a baseline.

use std::io::{self, Write};

use sframe_policy::Baseline;
use sframe_record::{Finding, Record, Severity, Summary};

use super::Renderer;

/// Writes the errors and warnings of a scan as a baseline, at its end.
#[derive(Debug)]
pub struct BaselineWriter<W> {
    out: W,
    baseline: Baseline,
    /// The record that was started.
    started: Option<Record<'static>>,
}

impl<W: Write> BaselineWriter<W> {
    /// A renderer that writes to `out`.
    pub fn new(out: W) -> BaselineWriter<W> {
        BaselineWriter { out, baseline: Baseline::default(), started: None }
    }

    fn add(&mut self, record: &Record<'_>, findings: &[Finding<'_>]) {
        for finding in findings.iter().filter(|finding| finding.severity != Severity::Lint) {
            self.baseline.add(record, finding);
        }
    }
}

impl<W: Write> Renderer for BaselineWriter<W> {
    fn begin(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn file(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.add(record, &record.findings);
        Ok(())
    }

    fn start(&mut self, record: Record<'static>) -> io::Result<()> {
        self.started = Some(record);
        Ok(())
    }

    fn findings(&mut self, findings: Vec<Finding<'static>>) -> io::Result<()> {
        if let Some(record) = self.started.take() {
            self.add(&record, &findings);
            self.started = Some(record);
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.started = None;
        Ok(())
    }

    fn end(&mut self, _: &Summary<'_>) -> io::Result<()> {
        self.baseline.write(&mut self.out)
    }
}
