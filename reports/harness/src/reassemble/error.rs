//! Why files cannot be written as assembly, or compared with what was assembled.

use std::fmt;
use std::io;

use object::read::Error as Malformed;
use sframe_validator::elf::ElfError;

use super::SECTION_SYMBOL;

/// Why a file is not written as assembly.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReassembleError {
    /// The assembly cannot be written.
    Output(io::Error),
    /// SFrame is not defined for the file's machine.
    Machine,
    /// The CFI cannot be read.
    Cfi(ElfError),
}

impl fmt::Display for ReassembleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReassembleError::Output(error) => error.fmt(f),
            ReassembleError::Machine => f.write_str("SFrame is not defined for its machine"),
            ReassembleError::Cfi(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ReassembleError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ReassembleError::Output(error) => Some(error),
            ReassembleError::Cfi(error) => Some(error),
            ReassembleError::Machine => None,
        }
    }
}

impl From<io::Error> for ReassembleError {
    fn from(error: io::Error) -> ReassembleError {
        ReassembleError::Output(error)
    }
}

impl From<ElfError> for ReassembleError {
    fn from(error: ElfError) -> ReassembleError {
        ReassembleError::Cfi(error)
    }
}

/// Why a rebuilt file cannot be compared with the original.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompareError {
    /// They are for different machines, or for one for which SFrame is not defined.
    Machines,
    /// The CFI of one of them cannot be read.
    Cfi(ElfError),
    /// The symbols of the rebuilt file cannot be read.
    Symbols(Malformed),
    /// The rebuilt file has no symbol at the start of the section with this number.
    NoSection(u32),
}

impl fmt::Display for CompareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CompareError::Machines => f.write_str(
                "the files are not for the same machine, or SFrame is not defined for it",
            ),
            CompareError::Cfi(error) => error.fmt(f),
            CompareError::Symbols(error) => error.fmt(f),
            CompareError::NoSection(number) => {
                write!(f, "the rebuilt file has no symbol {SECTION_SYMBOL}{number}")
            }
        }
    }
}

impl std::error::Error for CompareError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            CompareError::Cfi(error) => Some(error),
            CompareError::Symbols(error) => Some(error),
            CompareError::Machines | CompareError::NoSection(_) => None,
        }
    }
}

impl From<ElfError> for CompareError {
    fn from(error: ElfError) -> CompareError {
        CompareError::Cfi(error)
    }
}
