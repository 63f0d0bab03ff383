//! Several renderers of one scan.

use std::io;

use sframe_record::{Finding, Record, Summary};

use super::Renderer;

/// Hands everything to several renderers, in their order. Where the reader of one has closed it, as `head` does, the others
/// go on.
pub struct Several(Vec<Box<dyn Renderer>>);

impl Several {
    /// Hands everything to `renderers`.
    #[must_use]
    pub const fn new(renderers: Vec<Box<dyn Renderer>>) -> Several {
        Several(renderers)
    }

    fn each(
        &mut self,
        mut write: impl FnMut(&mut Box<dyn Renderer>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut result = Ok(());
        self.0.retain_mut(|renderer| match write(renderer) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => false,
            written => {
                if result.is_ok() {
                    result = written;
                }
                true
            }
        });
        if self.0.is_empty() { Err(io::ErrorKind::BrokenPipe.into()) } else { result }
    }
}

impl Renderer for Several {
    fn begin(&mut self) -> io::Result<()> {
        self.each(|renderer| renderer.begin())
    }

    fn file(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.each(|renderer| renderer.file(record))
    }

    fn start(&mut self, record: Record<'static>) -> io::Result<()> {
        self.each(|renderer| renderer.start(record.clone()))
    }

    fn findings(&mut self, findings: Vec<Finding<'static>>) -> io::Result<()> {
        self.each(|renderer| renderer.findings(findings.clone()))
    }

    fn finish(&mut self) -> io::Result<()> {
        self.each(|renderer| renderer.finish())
    }

    fn end(&mut self, summary: &Summary<'_>) -> io::Result<()> {
        self.each(|renderer| renderer.end(summary))
    }
}
