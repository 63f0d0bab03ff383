//! Errors of reading a report.

use std::str::Utf8Error;
use std::{error, fmt, io};

use super::FORMAT;

/// The last byte that was read: its line, from 1, and its column, from 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) line: u64,
    pub(super) column: usize,
}

impl Place {
    /// The place after one more byte.
    pub(super) fn after(self, byte: u8) -> Place {
        match byte {
            b'\n' => Place { line: self.line.saturating_add(1), column: 0 },
            _ => Place { column: self.column.saturating_add(1), ..self },
        }
    }
}

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
    /// Damage in the text of a record that ends at this place of the report.
    pub(super) fn damaged_record(record: &str, error: &serde_json::Error, end: Place) -> Error {
        let lines = record.matches('\n').count();
        let mut damage = Error::damaged(error, end.line.saturating_sub(lines as u64));
        if let (0, Error::Damaged { column, .. }) = (lines, &mut damage) {
            *column = column.saturating_add(end.column.saturating_sub(record.len()));
        }
        damage
    }

    /// Line `number` of the report is not UTF-8.
    pub(super) fn not_utf8(error: Utf8Error, number: u64) -> Error {
        let column = error.valid_up_to().saturating_add(1);
        Error::Damaged { line: number, column, what: "invalid unicode code point".to_owned() }
    }

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
