//! Several renderers of one scan.

use std::io;

use sframe_record::{Events, Finding, Record, Summary};

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

impl Events for Several {
    fn begin(&mut self, head: &Record<'_>) -> io::Result<()> {
        self.each(|renderer| renderer.begin(head))
    }

    fn finding(&mut self, head: &Record<'_>, finding: &Finding<'_>) -> io::Result<()> {
        self.each(|renderer| renderer.finding(head, finding))
    }

    fn end(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.each(|renderer| renderer.end(record))
    }
}

impl Renderer for Several {
    fn finish(&mut self, summary: &Summary<'_>) -> io::Result<()> {
        self.each(|renderer| renderer.finish(summary))
    }
}
