//! What can end a scan whose results are kept.

use std::fmt;
use std::io;
use std::path::PathBuf;

use sframe_record::text::printable_path;

/// The result of a part of such a scan.
pub type Result<T> = std::result::Result<T, Error>;

/// What can end a scan whose results are kept. What is wrong with the files that are checked does
/// not.
#[derive(Debug)]
pub enum Error {
    /// The store.
    Store(sframe_store::Error),
    /// The system: no threads, no processes, no output.
    Io(io::Error),
    /// A file is not what it was when the plan was made, or cannot be read: here, or now.
    Changed(PathBuf),
}

impl Error {
    /// Whether nobody reads what was to be printed.
    #[must_use]
    pub fn is_unread(&self) -> bool {
        matches!(self, Error::Io(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Whether the same may succeed another time.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        match self {
            Error::Store(error) => error.may_pass(),
            Error::Io(_) | Error::Changed(_) => true,
        }
    }
}

impl From<sframe_store::Error> for Error {
    fn from(error: sframe_store::Error) -> Error {
        Error::Store(error)
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        Error::Io(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Store(error) => error.fmt(f),
            Error::Io(error) => error.fmt(f),
            Error::Changed(path) => {
                let path = printable_path(path);
                write!(
                    f,
                    "{path} is not what it was when the plan was made, or cannot be read here"
                )
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Store(error) => Some(error),
            Error::Io(error) => Some(error),
            Error::Changed(_) => None,
        }
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> io::Error {
        match error {
            Error::Io(error) => error,
            error => io::Error::other(error),
        }
    }
}
