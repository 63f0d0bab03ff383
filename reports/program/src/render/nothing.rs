//! No output: for scans of which only the summary is needed.

use std::io;

use sframe_record::{Finding, Record, Summary};

use super::Renderer;

/// Writes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nothing;

impl Renderer for Nothing {
    fn begin(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn file(&mut self, _: &Record<'_>) -> io::Result<()> {
        Ok(())
    }

    fn start(&mut self, _: Record<'static>) -> io::Result<()> {
        Ok(())
    }

    fn findings(&mut self, _: Vec<Finding<'static>>) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn end(&mut self, _: &Summary<'_>) -> io::Result<()> {
        Ok(())
    }
}
