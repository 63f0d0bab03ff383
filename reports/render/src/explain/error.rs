//! Names that nothing has.

use std::error::Error;
use std::fmt;

/// Nothing has this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoSuchName {
    /// No linker is known to print the message about SFrame.
    Message,
    /// Nothing that `explain` has a page for is called like this.
    Subject {
        /// The name.
        name: String,
        /// Which names are similar, for people.
        hint: String,
    },
    /// No rule is called like this.
    Rule {
        /// The name.
        name: String,
        /// Which names are similar, for people.
        hint: String,
    },
}

impl fmt::Display for NoSuchName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoSuchName::Message => f.write_str("no linker is known to print this about SFrame"),
            NoSuchName::Subject { name, hint } => write!(
                f,
                "there is no rule, known defect, cause, message or consumer `{name}`; {hint}"
            ),
            NoSuchName::Rule { name, hint } => write!(f, "there is no rule `{name}`; {hint}"),
        }
    }
}

impl Error for NoSuchName {}
