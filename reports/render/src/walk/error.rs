//! Why stacks cannot be walked.

use std::error::Error;
use std::fmt;

/// Why the stacks of a core dump or process cannot be walked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WalkError {
    /// The core dump, the process or one of its files cannot be read: the reason.
    Unreadable(String),
    /// There is no such thread.
    NoThread {
        /// Its identifier.
        wanted: u32,
        /// The first threads that there are.
        known: Vec<u32>,
    },
}

impl WalkError {
    pub(super) fn unreadable(error: impl fmt::Display) -> WalkError {
        WalkError::Unreadable(error.to_string())
    }
}

impl fmt::Display for WalkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WalkError::Unreadable(reason) => f.write_str(reason),
            WalkError::NoThread { wanted, known } => {
                let known: Vec<String> = known.iter().map(ToString::to_string).collect();
                let known = known.join(", ");
                write!(f, "there is no thread {wanted}; the threads are {known}")
            }
        }
    }
}

impl Error for WalkError {}
