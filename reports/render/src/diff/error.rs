//! Why files cannot be compared.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use sframe_input::plain_error;
use sframe_validator::elf::ElfError;
use sframe_validator::section;

use super::RowsFrom;

/// A file that cannot be compared.
#[derive(Debug)]
pub struct Error {
    /// The file.
    pub path: PathBuf,
    /// The reason.
    pub why: NotComparable,
}

/// Why a file cannot be compared.
#[derive(Debug)]
pub enum NotComparable {
    /// It cannot be read, or has changed meanwhile.
    Read(io::Error),
    /// It is an archive.
    Archive,
    /// It is not a valid ELF file.
    Elf(ElfError),
    /// One of its SFrame sections cannot be read.
    Section {
        /// The section's name.
        name: String,
        /// The defect.
        error: section::Error,
    },
    /// It has no SFrame section.
    NoSection,
    /// It has no SFrame section, unlike the other file.
    OnlyOneSection,
    /// It has no call frame information.
    NoCfi,
    /// Its machine code cannot be examined.
    Machine,
    /// It is a package that cannot be unpacked: the reason.
    Unpack(String),
    /// It is a package whose files are too large.
    TooLarge,
    /// It is a package without a file that has such rows.
    NoFile(Option<RowsFrom>),
    /// It is a package with several files that have such rows.
    SeveralFiles {
        /// Their number.
        count: usize,
        /// The rows that are compared.
        from: Option<RowsFrom>,
    },
}

impl NotComparable {
    pub(super) fn of(self, path: &Path) -> Error {
        Error { path: path.to_owned(), why: self }
    }
}

/// What the compared files have.
pub(super) const fn kind(from: Option<RowsFrom>) -> &'static str {
    match from {
        None | Some(RowsFrom::Sframe) => "an SFrame section",
        Some(RowsFrom::Cfi) => "call frame information",
        Some(RowsFrom::Code) => "machine code",
    }
}

impl fmt::Display for NotComparable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotComparable::Read(error) => f.write_str(&plain_error(error)),
            NotComparable::Archive => f.write_str("an archive: take out the members to compare"),
            NotComparable::Elf(error) => error.fmt(f),
            NotComparable::Section { name, error } => write!(f, "{name}: {error}"),
            NotComparable::NoSection => f.write_str("no SFrame section"),
            NotComparable::OnlyOneSection => f.write_str(
                "no SFrame section, unlike the other file: `--from cfi` compares the call frame information of \
                 both, `--from code` what their code proves",
            ),
            NotComparable::NoCfi => f.write_str("no call frame information"),
            NotComparable::Machine => {
                f.write_str("only machine code for AMD64 and AArch64 can be compared")
            }
            NotComparable::Unpack(reason) => f.write_str(reason),
            NotComparable::TooLarge => f.write_str("its files are larger than 1 GiB"),
            NotComparable::NoFile(from) => write!(f, "no file with {}", kind(*from)),
            NotComparable::SeveralFiles { count, from } => {
                write!(f, "{count} files with {}: compare it with a package", kind(*from))
            }
        }
    }
}

impl std::error::Error for NotComparable {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            NotComparable::Read(error) => Some(error),
            NotComparable::Elf(error) => Some(error),
            NotComparable::Section { error, .. } => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for NotComparable {
    fn from(error: io::Error) -> NotComparable {
        NotComparable::Read(error)
    }
}

impl From<ElfError> for NotComparable {
    fn from(error: ElfError) -> NotComparable {
        NotComparable::Elf(error)
    }
}
