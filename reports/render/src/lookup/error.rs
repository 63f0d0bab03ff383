//! Why places cannot be looked up.

use std::error::Error;
use std::fmt;
use std::io;
use std::num::ParseIntError;
use std::path::PathBuf;

use sframe_input::plain_error;
use sframe_record::text::{printable, printable_path};
use sframe_validator::elf::ElfError;

/// Why a file cannot be looked into.
#[derive(Debug)]
pub enum LookupError {
    /// It cannot be read, or has changed meanwhile.
    Read(io::Error),
    /// It is an archive.
    Archive,
    /// It is not a valid ELF file.
    Elf(ElfError),
    /// It is a core dump: its path.
    Core(PathBuf),
}

/// Why a text is not the name of a place, or not a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlaceError {
    /// It is empty.
    Empty,
    /// Its digits are hexadecimal, but `0x` is missing.
    Unmarked(String),
    /// Its offset from this symbol or section has hexadecimal digits without `0x`.
    UnmarkedOffset {
        /// The symbol or section.
        name: String,
        /// The digits.
        digits: String,
    },
    /// It has other digits than hexadecimal ones.
    NotHexadecimal,
    /// It has no digits, something else among them, or too many.
    Number(ParseIntError),
}

/// Why a file has no place with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NotFound {
    /// The object has several sections of code, to which the address could belong.
    Ambiguous {
        /// The address.
        address: u64,
        /// The name of the first of these sections, safe to print.
        first: String,
    },
    /// The object has no code at any address.
    NoCode(u64),
    /// Nothing has this name.
    NoName {
        /// The name with the offset.
        place: String,
        /// The name.
        name: String,
    },
}

impl fmt::Display for LookupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LookupError::Read(error) => f.write_str(&plain_error(error)),
            LookupError::Archive => f.write_str("an archive: extract the member to look at"),
            LookupError::Elf(error) => error.fmt(f),
            LookupError::Core(path) => {
                let path = printable_path(path);
                write!(f, "a core dump: `sframe-check walk {path}` shows its stacks")
            }
        }
    }
}

impl fmt::Display for PlaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlaceError::Empty => f.write_str("write an address or a symbol"),
            PlaceError::Unmarked(digits) => write!(f, "write 0x{digits}"),
            PlaceError::UnmarkedOffset { name, digits } => {
                write!(f, "write {}+0x{digits}", printable(name.as_bytes()))
            }
            PlaceError::NotHexadecimal => f.write_str("not a hexadecimal number"),
            PlaceError::Number(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotFound::Ambiguous { address, first } => write!(
                f,
                "{address:#x}: the object has several sections of code; write {first}+{address:#x}"
            ),
            NotFound::NoCode(address) => write!(f, "{address:#x}: the object has no code"),
            NotFound::NoName { place, name } => {
                let name = printable(name.as_bytes());
                write!(f, "{place}: no function, section or label is named {name}")
            }
        }
    }
}

impl Error for LookupError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            LookupError::Read(error) => Some(error),
            LookupError::Elf(error) => Some(error),
            LookupError::Archive | LookupError::Core(_) => None,
        }
    }
}

impl Error for PlaceError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            PlaceError::Number(error) => Some(error),
            _ => None,
        }
    }
}

impl Error for NotFound {}

impl From<io::Error> for LookupError {
    fn from(error: io::Error) -> LookupError {
        LookupError::Read(error)
    }
}

impl From<ElfError> for LookupError {
    fn from(error: ElfError) -> LookupError {
        LookupError::Elf(error)
    }
}

impl From<ParseIntError> for PlaceError {
    fn from(error: ParseIntError) -> PlaceError {
        PlaceError::Number(error)
    }
}
