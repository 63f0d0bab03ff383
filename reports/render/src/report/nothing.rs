//! No output: for scans of which only the summary is needed.

use std::io;

use sframe_record::{Events, Finding, Record, Summary};

use super::Renderer;

/// Writes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nothing;

impl Events for Nothing {
    fn begin(&mut self, _: &Record<'_>) -> io::Result<()> {
        Ok(())
    }

    fn finding(&mut self, _: &Record<'_>, _: &Finding<'_>) -> io::Result<()> {
        Ok(())
    }

    fn end(&mut self, _: &Record<'_>) -> io::Result<()> {
        Ok(())
    }
}

impl Renderer for Nothing {
    fn finish(&mut self, _: &Summary<'_>) -> io::Result<()> {
        Ok(())
    }
}
