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

use sframe_record::{Finding, Record, Summary};

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
    /// An error of writing.
    fn file(&mut self, record: &Record<'_>) -> io::Result<()>;

    /// Begins a record with too many findings to be held: `record` has none, they follow.
    ///
    /// # Errors
    /// An error of writing.
    fn start(&mut self, record: Record<'static>) -> io::Result<()>;

    /// Writes the next findings of the record that was started.
    ///
    /// # Errors
    /// An error of writing.
    fn findings(&mut self, findings: Vec<Finding<'static>>) -> io::Result<()>;

    /// Ends the record that was started.
    ///
    /// # Errors
    /// An error of writing.
    fn finish(&mut self) -> io::Result<()>;

    /// Writes the summary, and flushes.
    ///
    /// # Errors
    /// Those of writing.
    fn end(&mut self, summary: &Summary<'_>) -> io::Result<()>;
}
