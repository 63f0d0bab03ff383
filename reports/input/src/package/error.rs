//! The errors that end the reading of a package.

use std::fmt;
use std::io;

use super::digest::OTHER;
use super::plain_error;
use crate::ExceededLimit;

/// Why the reading of a package ended early.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The system refused to read it, or it has changed.
    Io(io::Error),
    /// It has holes of more than 1 GiB.
    Holes,
    /// A limit was exceeded.
    Limit(ExceededLimit),
    /// The index or a manifest of a container image cannot be used.
    Document {
        /// The document's path in the image.
        file: String,
        /// The reason.
        defect: DocumentError,
    },
    /// The index of a container image refers to too many other documents.
    ManyDocuments,
    /// A repository lists it as an apk package of version 2, which it is not.
    NotApk2,
    /// Another error, after some members were read.
    After {
        /// The number of members.
        members: u64,
        /// The error.
        error: Box<Error>,
    },
}

impl Error {
    /// This error, after `members` were read.
    pub(super) fn after(self, members: u64) -> Error {
        match members {
            0 => self,
            _ => Error::After { members, error: Box::new(self) },
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io(error) => f.write_str(&plain_error(error)),
            Error::Holes => f.write_str("it has holes of more than 1 GiB"),
            Error::Limit(limit) => limit.fmt(f),
            Error::Document { file, defect } => write!(f, "{file}: {defect}"),
            Error::ManyDocuments => f.write_str("its index refers to too many other documents"),
            Error::NotApk2 => f.write_str("it is not an apk package of version 2"),
            Error::After { members, error } => write!(f, "{error}{}", ReadBefore(*members)),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io(error) => Some(error),
            Error::Limit(limit) => Some(limit),
            Error::Document { defect, .. } => Some(defect),
            Error::After { error, .. } => Some(error),
            Error::Holes | Error::ManyDocuments | Error::NotApk2 => None,
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        Error::Io(error)
    }
}

/// The number of members that were read before an error, at the end of its message.
pub(super) struct ReadBefore(pub(super) u64);

impl fmt::Display for ReadBefore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => Ok(()),
            1 => f.write_str("; read up to there: 1 member"),
            members => write!(f, "; read up to there: {members} members"),
        }
    }
}

/// Why an index or a manifest of a container image cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum DocumentError {
    /// The system refused to read it.
    Io(io::Error),
    /// It has more bytes than this limit.
    Large(u64),
    /// Its digest is not a SHA-256.
    Digest,
    /// Its SHA-256 differs from the one in its name.
    OtherHash,
    /// It is not a document in JSON.
    Json(serde_json::Error),
}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DocumentError::Io(error) => f.write_str(&plain_error(error)),
            DocumentError::Large(most) => write!(f, "it is larger than {} MiB", most >> 20),
            DocumentError::Digest => f.write_str("its digest is not a SHA-256"),
            DocumentError::OtherHash => f.write_str(OTHER),
            DocumentError::Json(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for DocumentError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            DocumentError::Io(error) => Some(error),
            DocumentError::Json(error) => Some(error),
            DocumentError::Large(_) | DocumentError::Digest | DocumentError::OtherHash => None,
        }
    }
}
