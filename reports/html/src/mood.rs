//! How verdicts and figures look.

use std::fmt;

use sframe_record::Severity;

/// How a verdict or a figure looks: a class of the style sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mood {
    /// Like any other.
    Plain,
    Error,
    Warning,
    Lint,
    Undecided,
    Clean,
}

impl From<Severity> for Mood {
    fn from(severity: Severity) -> Mood {
        match severity {
            Severity::Error => Mood::Error,
            Severity::Warning => Mood::Warning,
            Severity::Lint => Mood::Lint,
        }
    }
}

impl fmt::Display for Mood {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mood::Plain => "",
            Mood::Error => "error",
            Mood::Warning => "warning",
            Mood::Lint => "lint",
            Mood::Undecided => "undecided",
            Mood::Clean => "clean",
        })
    }
}
