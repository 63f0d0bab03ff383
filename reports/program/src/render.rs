//! Writes records as text, JSON and HTML. A renderer computes nothing: everything that it writes is in the records.

mod baseline;
mod grouped;
mod html;
pub mod json;
mod junit;
mod markdown;
mod nothing;
mod pace;
mod progress;
mod sarif;
mod several;
mod table;
pub(crate) mod text;
mod wrap;

pub use baseline::BaselineWriter;
pub use grouped::{Causes, Grouped};
pub use html::Html;
pub use json::{JsonDocument, JsonLines};
pub use junit::Junit;
pub use markdown::Markdown;
pub use nothing::Nothing;
pub use pace::Pace;
pub use progress::{Display, Line, WithProgress, clock, time_left};
pub use sarif::Sarif;
pub use several::Several;
pub use text::{Text, TextOptions};
pub use wrap::wrap;

use std::io;

use sframe_record::{Finding, Record, Summary};

/// A format of a scan's output.
pub trait Renderer {
    /// Writes the text before the first file.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    fn begin(&mut self) -> io::Result<()>;

    /// Writes the record of one file.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    fn file(&mut self, record: &Record<'_>) -> io::Result<()>;

    /// Starts a record that has too many findings for memory: `record` has none, and they follow.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    fn start(&mut self, record: Record<'static>) -> io::Result<()>;

    /// Writes the next findings of the record that was started.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    fn findings(&mut self, findings: Vec<Finding<'static>>) -> io::Result<()>;

    /// Ends the record that was started.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    fn finish(&mut self) -> io::Result<()>;

    /// Writes the summary, and flushes.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    fn end(&mut self, summary: &Summary<'_>) -> io::Result<()>;
}
