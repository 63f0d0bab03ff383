//! The errors of opening repositories and of reading the packages in them.

use std::fmt;
use std::io;

use sframe_record::numbers::{counted, grouped};
use sframe_record::text::printable;

use super::MOST;
use super::index_kind::Kind;
use crate::package::{self, ApkMismatch};
use crate::plain_error;

/// How many suites a message names.
const NAMED: usize = 20;

/// Why a repository cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenError {
    /// It is on a server, and this program was built without the feature `http`.
    WithoutHttp,
    /// There is no such folder. The name has no characters that a terminal interprets, and no password.
    NotAFolder(String),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::WithoutHttp => f.write_str(
                "this program was built without the feature http: download the repository, or build with `cargo install sframe-check --features http`",
            ),
            OpenError::NotAFolder(name) => write!(f, "{name} is not a folder"),
        }
    }
}

impl std::error::Error for OpenError {}

/// Why the indexes of a repository cannot be found.
#[derive(Debug)]
pub(super) enum LayoutError {
    /// A name from the command line is not the name of one folder.
    LeadsOut,
    /// There are more than [`MOST`] indexes.
    ManyIndexes,
    /// There is no suite of this name, but others.
    NoSuite { missing: String, suites: Vec<String> },
    /// There is no index in the folder.
    NoIndex,
    /// There is no index in the root on a server, whose folders cannot be listed.
    NoIndexInRoot,
    /// Indexes of this kind have neither suites nor components.
    NoSuites(Kind),
    /// Indexes of this kind do not list sections.
    NoSections(Kind),
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LayoutError::LeadsOut => f.write_str(
                "the name of a suite, component or architecture leads out of the repository",
            ),
            LayoutError::ManyIndexes => write!(f, "it has more than {MOST} indexes"),
            LayoutError::NoSuite { missing, suites } => {
                let named: Vec<String> = suites.iter().take(NAMED).map(printable).collect();
                let (missing, named) = (printable(missing), named.join(", "));
                write!(f, "there is no suite {missing}; there is {named}")?;
                match suites.len().saturating_sub(NAMED) {
                    0 => Ok(()),
                    more => write!(f, " and {more} more"),
                }
            }
            LayoutError::NoIndex => f.write_str(
                "no index found: neither Packages, dists/*/*/binary-*/Packages, \
                 repodata/repomd.xml, APKINDEX.tar.gz nor NAME.db",
            ),
            LayoutError::NoIndexInRoot => f.write_str(
                "no index found in its root: name a suite of Debian, an architecture of Alpine, \
                 or the database of pacman",
            ),
            LayoutError::NoSuites(kind) => {
                write!(f, "it is {}, which has neither suites nor components", kind.name())
            }
            LayoutError::NoSections(kind) => {
                write!(f, "it is {}, whose index lists no sections", kind.name())
            }
        }
    }
}

/// Why a package of a repository cannot be read to its end, or is not the listed one.
#[derive(Debug)]
#[non_exhaustive]
pub enum ListedError {
    /// It cannot be opened.
    Open(io::Error),
    /// Reading it ended early.
    Package(package::Error),
    /// It has another size than its index states.
    Size {
        /// The size in bytes, of which at most one more than the listed one was read.
        found: u64,
        /// The size in its index.
        listed: u64,
    },
    /// Its hash by this function differs from the one in its index.
    Hash(&'static str),
    /// Its control data or its files differ from the checksum in its index.
    Apk(ApkMismatch),
}

impl fmt::Display for ListedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ListedError::Open(error) => f.write_str(&plain_error(error)),
            ListedError::Package(error) => error.fmt(f),
            ListedError::Size { found, listed } => {
                let most = if found > listed { "more than " } else { "" };
                let found = counted(*found.min(listed), "byte");
                let listed = grouped(*listed);
                write!(f, "it has {most}{found}, but its index states {listed}")
            }
            ListedError::Hash(name) => write!(f, "its {name} differs from the one in its index"),
            ListedError::Apk(mismatch) => mismatch.fmt(f),
        }
    }
}

impl std::error::Error for ListedError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ListedError::Open(error) => Some(error),
            ListedError::Package(error) => Some(error),
            ListedError::Apk(mismatch) => Some(mismatch),
            ListedError::Size { .. } | ListedError::Hash(_) => None,
        }
    }
}

impl From<package::Error> for ListedError {
    fn from(error: package::Error) -> ListedError {
        ListedError::Package(error)
    }
}
