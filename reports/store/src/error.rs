//! The errors of working with a store.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::field::Defect;
use crate::layout::LINK;
use crate::status::{NAMED, Remedy, Status};

/// The result of working with a store.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of working with a store.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The system refused an operation, for instance because the disk is full.
    Io {
        /// The operation, such as "write".
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A line of a manifest or of `run.json` is invalid.
    Defect {
        /// The file.
        path: PathBuf,
        /// The defect.
        defect: Defect,
    },
    /// A file of a store is damaged.
    Damaged {
        /// The file.
        path: PathBuf,
        /// The defect.
        reason: String,
    },
    /// The file belongs to another scan.
    Foreign {
        /// The file.
        path: PathBuf,
        /// The difference.
        reason: String,
    },
    /// A folder contains files that are not a store's, which are left as they are.
    NotOurs {
        /// The folder.
        path: PathBuf,
        /// Their paths relative to the folder.
        names: Vec<String>,
    },
    /// A sound shard with other contents exists already.
    Different {
        /// The file of the shard.
        path: PathBuf,
    },
    /// Some shards are missing, damaged, or of another scan.
    Unmergeable(Box<Status>),
    /// Another process is doing the same work.
    Busy {
        /// The file or folder that it works on.
        path: PathBuf,
    },
    /// The caller's request is invalid: for instance a shard that the manifest does not have, or a record that is not a
    /// line of JSON.
    Usage(String),
}

impl Error {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        move |source| Error::Io { action, path: path.to_owned(), source }
    }

    pub(crate) fn defect(path: &Path) -> impl Fn(Defect) -> Error {
        move |defect| Error::Defect { path: path.to_owned(), defect }
    }

    /// Puts `name` in place of `folder` in its path: `folder` is a local copy of the bucket at the
    /// address `name`.
    #[must_use]
    pub fn renamed(mut self, folder: &Path, name: &Path) -> Error {
        if let Error::Io { path, .. }
        | Error::Defect { path, .. }
        | Error::Damaged { path, .. }
        | Error::Foreign { path, .. }
        | Error::NotOurs { path, .. }
        | Error::Different { path }
        | Error::Busy { path } = &mut self
            && let Ok(rest) = path.strip_prefix(folder)
        {
            *path = name.join(rest);
        }
        self
    }

    /// Adds the way out, if the error is in the contents of the file: its damage, a defect, or that it is
    /// not a regular file.
    pub(crate) fn with_remedy(self, remedy: Remedy) -> Error {
        match self {
            Error::Damaged { path, reason } => {
                Error::Damaged { path, reason: format!("{reason}: {remedy}") }
            }
            Error::Defect { path, defect } => {
                let allowed = format!("{}: {remedy}", defect.allowed);
                Error::Defect { path, defect: Defect { allowed, ..defect } }
            }
            Error::Io { path, source, .. } if source.kind() == io::ErrorKind::InvalidInput => {
                let reason = source.to_string();
                let remedy = if reason == LINK { Remedy::ReplaceLink } else { remedy };
                Error::Damaged { path, reason: format!("{reason}: {remedy}") }
            }
            error => error,
        }
    }

    /// Whether the error is that the file does not exist.
    #[must_use]
    pub fn is_absence(&self) -> bool {
        matches!(self, Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// Whether retrying may help: if the system refused the operation or another process was busy, but not if the data
    /// is wrong.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        match self {
            // The path leads to something other than a regular file.
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
            Error::NotOurs { path, names } => {
                let named: Vec<&str> = names.iter().take(NAMED).map(String::as_str).collect();
                write!(
                    f,
                    "{} contains files that do not belong to a store: {}",
                    path.display(),
                    named.join(", ")
                )?;
                if names.len() > NAMED {
                    write!(f, " and {} more", names.len() - NAMED)?;
                }
                f.write_str("; nothing was changed: name a new or empty folder, or move them away")
            }
            Error::Different { path } => write!(
                f,
                "{} exists already, with other contents: the inputs have changed since \
                 the plan was made, or the programs differ",
                path.display()
            ),
            Error::Unmergeable(status) => write!(f, "not all shards are complete: {status}"),
            Error::Busy { path } => {
                write!(f, "another process is already working on {}", path.display())
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
