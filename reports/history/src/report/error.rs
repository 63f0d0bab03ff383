//! Errors of reading a report.

use std::{error, fmt, io};

use super::FORMAT;

/// The reason why a report could not be read to its end.
#[derive(Debug)]
pub enum Error {
    /// Reading failed.
    Read(io::Error),
    /// The report is damaged.
    Damaged {
        /// The line, from 1.
        line: u64,
        /// The position in the line, in bytes from 1; 0 for the end of the line.
        column: usize,
        /// The defect.
        what: String,
    },
    /// The report has another version of the format.
    Format(u64),
    /// The report does not state the version of its format.
    NoFormat,
    /// The input is neither a JSON report nor NDJSON lines.
    NoReport,
}

impl Error {
    /// Damage in JSON that starts in line `first` of the report.
    pub(super) fn damaged(error: &serde_json::Error, first: u64) -> Error {
        let line = first.saturating_add(error.line().saturating_sub(1) as u64);
        let text = error.to_string();
        // The position is appended once, relative to the report.
        let place = format!(" at line {} column {}", error.line(), error.column());
        let what = text.strip_suffix(&place).unwrap_or(&text).to_owned();
        Error::Damaged { line, column: error.column(), what }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Read(error) => write!(f, "cannot be read: {error}"),
            Error::Damaged { line, column, what } => {
                write!(f, "line {line}, column {column}: {what}")
            }
            Error::Format(found) => {
                write!(
                    f,
                    "the report has version {found} of the format, but this program reads {FORMAT}"
                )
            }
            Error::NoFormat => f.write_str("the report does not state the version of its format"),
            Error::NoReport => {
                f.write_str("neither a JSON report nor NDJSON lines of sframe-check")
            }
        }
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Error::Read(error) => Some(error),
            _ => None,
        }
    }
}
