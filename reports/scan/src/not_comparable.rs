//! Why the sections of a file cannot be compared.

use std::error::Error;
use std::fmt;

use sframe_oracle::orc::OrcError;
use sframe_validator::elf::ElfError;
use sframe_validator::section;

/// Why nothing is known about CFI that the file may have.
pub(super) const CFI_LOST: &str =
    "the file has no usable section headers, and PT_GNU_EH_FRAME does not lead to CFI";

/// Why the sections of a file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnusableSections {
    /// It is not certain what the section with this name contains, and so which code it describes.
    Uncertain(String),
    /// A section cannot be read.
    Unreadable {
        /// Its name.
        name: String,
        /// Why.
        error: section::Error,
    },
}

/// Why the tables of a file cannot be read.
#[derive(Clone, Copy, Debug)]
pub enum TablesError {
    /// The CFI of the file or of its debug file.
    Cfi(ElfError),
    /// The ORC tables.
    Orc(OrcError),
}

/// Why the sections of a file cannot be compared with its tables.
#[derive(Clone, Debug)]
pub(crate) enum NotComparable {
    /// The sections cannot be used.
    Sections(UnusableSections),
    /// The tables cannot be read.
    Tables(TablesError),
    /// The file may have CFI that cannot be found.
    CfiLost,
    /// The file has no tables.
    NoTables,
}

impl fmt::Display for UnusableSections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UnusableSections::Uncertain(name) => {
                write!(f, "the content of {name} is not known for certain")
            }
            UnusableSections::Unreadable { name, error } => write!(f, "{name}: {error}"),
        }
    }
}

impl fmt::Display for TablesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TablesError::Cfi(error) => error.fmt(f),
            TablesError::Orc(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for NotComparable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotComparable::Sections(error) => error.fmt(f),
            NotComparable::Tables(error) => error.fmt(f),
            NotComparable::CfiLost => f.write_str(CFI_LOST),
            NotComparable::NoTables => f.write_str("the file has none"),
        }
    }
}

impl Error for UnusableSections {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            UnusableSections::Uncertain(_) => None,
            UnusableSections::Unreadable { error, .. } => Some(error),
        }
    }
}

impl Error for TablesError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            TablesError::Cfi(error) => Some(error),
            TablesError::Orc(error) => Some(error),
        }
    }
}

impl Error for NotComparable {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            NotComparable::Sections(error) => Some(error),
            NotComparable::Tables(error) => Some(error),
            NotComparable::CfiLost | NotComparable::NoTables => None,
        }
    }
}

impl From<UnusableSections> for NotComparable {
    fn from(error: UnusableSections) -> NotComparable {
        NotComparable::Sections(error)
    }
}

impl From<TablesError> for NotComparable {
    fn from(error: TablesError) -> NotComparable {
        NotComparable::Tables(error)
    }
}
