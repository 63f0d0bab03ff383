//! Reports as `sframe-check` writes them, one file after the other: `--format json` and
//! `--format ndjson`.
//!
//! Neither is held in memory as a whole: of a document one element of `files`, of lines one line.
//!
//! ```
//! let report = r#"{"type":"file","path":"a.o","status":"no-section"}
//! {"type":"summary","format":1,"tool":{"name":"sframe-check","version":"0.1.0"}}
//! "#;
//! let mut paths = Vec::new();
//! let ending = sframe_history::report::read(report.as_bytes(), |record| {
//!     paths.push(record.path.to_string());
//! })?;
//! assert_eq!(paths, ["a.o"]);
//! assert!(ending.complete);
//! # Ok::<(), sframe_history::report::Error>(())
//! ```

mod document;
mod error;
mod lines;
mod start;

pub use error::Error;

use std::io::BufRead;

use serde::Deserialize;

use crate::Record;
use start::Start;

/// The version of the formats that is read.
pub const FORMAT: u32 = 1;

/// What a report says behind its files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ending {
    /// The version of the program that wrote it, where it says one.
    pub tool: Option<String>,
    /// The report has a summary: the scan ended.
    pub complete: bool,
}

/// Reads a report, and hands each file's record to `each`. Which of the formats it has, its first
/// field says.
///
/// # Errors
/// The report cannot be read, is damaged, or of another version of the format. What was handed on
/// before is right as far as it goes.
pub fn read(input: impl BufRead, mut each: impl FnMut(&Record<'_>)) -> Result<Ending, Error> {
    let input = Start::of(input)?;
    if input.is_document() {
        document::read(input, &mut each)
    } else {
        lines::read(input, &mut each)
    }
}

/// The program that wrote a report.
#[derive(Deserialize)]
struct Tool {
    version: String,
}
