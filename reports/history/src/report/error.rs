//! What is wrong with a report.

use std::{error, fmt, io};

use super::FORMAT;

/// Why a report could not be read to its end.
#[derive(Debug)]
pub enum Error {
    /// Reading failed.
    Read(io::Error),
    /// It is damaged.
    Damaged {
        /// The line, from 1.
        line: u64,
        /// The byte in the line, from 1; 0 where the line is at its end.
        column: usize,
        /// What is wrong there.
        what: String,
    },
    /// It has another version of the format.
    Format(u64),
    /// It does not say which version of the format it has.
    NoFormat,
    /// It is neither a report as one document nor one as lines.
    NoReport,
}

impl Error {
    /// Damage in JSON that starts in line `first` of the report.
    pub(super) fn damaged(error: &serde_json::Error, first: u64) -> Error {
        let line = first.saturating_add(error.line().saturating_sub(1) as u64);
        let text = error.to_string();
        // The place is told once, and it is the report's.
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
                    "the report has version {found} of the format, and this program reads {FORMAT}"
                )
            }
            Error::NoFormat => {
                f.write_str("the report does not say which version of the format it has")
            }
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
