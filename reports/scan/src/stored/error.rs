//! The errors that end a scan with stored results.

use std::fmt;
use std::io;
use std::path::PathBuf;

use sframe_record::text::printable_path;

/// The result of a part of a scan with stored results.
pub type Result<T> = std::result::Result<T, Error>;

/// An error that ends a scan with stored results. Defects of the checked files do not end it.
#[derive(Debug)]
pub enum Error {
    /// An error of the store.
    Store(sframe_store::Error),
    /// An error of the system: threads, processes or the output.
    Io(io::Error),
    /// A file has changed since the plan was made, or cannot be read on this machine.
    Changed(PathBuf),
}

impl Error {
    /// Whether the reader of the output has closed it.
    #[must_use]
    pub fn is_unread(&self) -> bool {
        matches!(self, Error::Io(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Whether another attempt may succeed.
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
