//! Writes records as text, JSON and HTML. A renderer computes nothing: everything that it writes is in the records.

mod baseline;
mod github;
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
mod statistics;
mod table;
pub(crate) mod text;
mod wrap;

pub use baseline::BaselineWriter;
pub use github::Github;
pub use grouped::{Causes, Grouped};
pub use html::Html;
pub use json::{JsonDocument, JsonLines};
pub use junit::Junit;
pub use markdown::Markdown;
pub use nothing::Nothing;
pub use pace::Pace;
pub use progress::{Display, Line, Progress, WithProgress, clock};
pub use sarif::Sarif;
pub use several::Several;
pub use statistics::Statistics;
pub use text::{Text, TextOptions};
pub use wrap::wrap;

use std::io;

use sframe_record::{Events, Summary};

/// A format of a scan's output. It writes what comes before the first file when it is made.
pub trait Renderer: Events {
    /// Writes the summary, and flushes.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    fn finish(&mut self, summary: &Summary<'_>) -> io::Result<()>;
}
