//! Reads reports of `sframe-check`, one file at a time: `--format json` and `--format ndjson`.
//!
//! Reports are not held in memory as a whole: only one element of a document's `files`, or one line.
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

/// The version of the formats that this program reads.
pub const FORMAT: u32 = 1;

/// The information that follows the files in a report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ending {
    /// The version of the program that wrote it, if stated.
    pub tool: Option<String>,
    /// Whether the report has a summary, that is, whether the scan is complete.
    pub complete: bool,
}

/// Reads a report and passes each file's record to `each`. The first field determines the format.
///
/// # Errors
/// Returns an error if the report cannot be read, is damaged, or has another version of the format. Records passed on
/// before are valid.
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
