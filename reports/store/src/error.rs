//! What can go wrong with a store.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::field::Defect;
use crate::status::Status;

/// The result of working with a store.
pub type Result<T> = std::result::Result<T, Error>;

/// What can go wrong with a store.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The system has refused something, a full disk with it.
    Io {
        /// What was to be done: "write".
        action: &'static str,
        /// With which file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A line of a manifest or of `run.json` is not what it has to be.
    Defect {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        defect: Defect,
    },
    /// A file of a store is damaged.
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The file belongs to another scan.
    Foreign {
        /// The file.
        path: PathBuf,
        /// What differs, and how.
        reason: String,
    },
    /// A whole shard is there already, and says something else.
    Different {
        /// The shard's file.
        path: PathBuf,
    },
    /// Not every shard is there, whole and of this scan.
    Unmergeable(Box<Status>),
    /// Another process is at the same work.
    Busy {
        /// On which file or folder.
        path: PathBuf,
    },
    /// The caller has asked for what makes no sense: a shard that is not in the manifest, a record
    /// that is no line.
    Usage(String),
}

impl Error {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        move |source| Error::Io { action, path: path.to_owned(), source }
    }

    pub(crate) fn defect(path: &Path) -> impl Fn(Defect) -> Error {
        move |defect| Error::Defect { path: path.to_owned(), defect }
    }

    /// The same error with another name for a folder: that of a bucket, where `folder` has a copy of
    /// it.
    #[must_use]
    pub fn renamed(mut self, folder: &Path, name: &Path) -> Error {
        if let Error::Io { path, .. }
        | Error::Defect { path, .. }
        | Error::Damaged { path, .. }
        | Error::Foreign { path, .. }
        | Error::Different { path }
        | Error::Busy { path } = &mut self
            && let Ok(rest) = path.strip_prefix(folder)
        {
            *path = name.join(rest);
        }
        self
    }

    /// Whether the file is not there.
    #[must_use]
    pub fn is_absence(&self) -> bool {
        matches!(self, Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// Whether the same may succeed another time: what the system has refused, or what another
    /// process is busy with, but not what is wrong in itself.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        match self {
            // What is no file where one is expected.
            Error::Io { source, .. } => source.kind() != io::ErrorKind::InvalidInput,
            Error::Busy { .. } => true,
            _ => false,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io { action, path, source } => {
                write!(f, "cannot {action} {}: {source}", path.display())
            }
            Error::Defect { path, defect } => write!(f, "{}: {defect}", path.display()),
            Error::Damaged { path, reason } => write!(f, "{} is damaged: {reason}", path.display()),
            Error::Foreign { path, reason } => {
                write!(f, "{} belongs to another scan: {reason}", path.display())
            }
            Error::Different { path } => write!(
                f,
                "{} is there already, whole, and says something else: the inputs have changed since \
                 the plan was made, or the programs differ",
                path.display()
            ),
            Error::Unmergeable(status) => write!(f, "not every shard is there: {status}"),
            Error::Busy { path } => {
                write!(f, "another process is at the same work on {}", path.display())
            }
            Error::Usage(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
