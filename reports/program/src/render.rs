//! Records as text and as JSON. A renderer computes nothing: it writes what a record says.

mod grouped;
pub mod json;
mod pace;
mod progress;
pub(crate) mod text;
mod wrap;

pub use grouped::{Causes, Grouped};
pub use json::{JsonDocument, JsonLines};
pub use pace::Pace;
pub use progress::{Display, Line, WithProgress, clock, time_left};
pub use text::{Text, TextOptions};
pub use wrap::wrap;

use std::io;

use sframe_record::{Record, Summary};

/// A format of a scan's output.
pub trait Renderer {
    /// Writes what comes before the first file.
    ///
    /// # Errors
    /// Those of writing.
    fn begin(&mut self) -> io::Result<()>;

    /// Writes one file's record.
    ///
    /// # Errors
    /// Those of writing.
    fn file(&mut self, record: &Record<'_>) -> io::Result<()>;

    /// Writes the summary, and flushes.
    ///
    /// # Errors
    /// Those of writing.
    fn end(&mut self, summary: &Summary<'_>) -> io::Result<()>;
}
