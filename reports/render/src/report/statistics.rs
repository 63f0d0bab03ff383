//! Counts alone: how often each rule is broken, and in how many files.

use std::io::{self, Write};

use sframe_record::{Events, Finding, Record, Summary};

use super::{Renderer, Text, TextOptions};

/// Writes the counts of a scan at its end, and no finding.
#[derive(Debug)]
pub struct Statistics<W> {
    text: Text<W>,
}

impl<W: Write> Statistics<W> {
    /// A renderer that writes to `out`.
    pub fn new(out: W, options: TextOptions) -> Statistics<W> {
        Statistics { text: Text::new(out, options) }
    }
}

impl<W: Write> Events for Statistics<W> {
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

impl<W: Write> Renderer for Statistics<W> {
    fn finish(&mut self, summary: &Summary<'_>) -> io::Result<()> {
        self.text.statistics(summary)
    }
}
