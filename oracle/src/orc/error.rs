//! Why ORC tables cannot be read.

use core::fmt;

use sframe_validator::elf::ElfError;
use sframe_validator::unwind::CodeAddress;

/// A defect of the tables, and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrcError {
    /// The section's name.
    pub section: &'static str,
    /// The offset in bytes in the section.
    pub offset: u64,
    /// The defect.
    pub kind: OrcErrorKind,
}

/// The defects of ORC tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OrcErrorKind {
    /// The file is not for AMD64.
    Machine(u16),
    /// The file has only the other one of the two tables.
    Missing,
    /// The section has no bytes in the file, or more than 4 GiB.
    Unreadable,
    /// The size is not a multiple of an entry's.
    Size {
        /// The section's size in bytes.
        size: u64,
        /// The size of an entry in bytes.
        entry: u64,
    },
    /// The tables have different numbers of entries.
    Counts {
        /// In `.orc_unwind_ip`.
        addresses: u64,
        /// In `.orc_unwind`.
        entries: u64,
    },
    /// `.orc_header` does not have 20 bytes.
    HeaderSize(u64),
    /// The relocations cannot be read.
    Relocations(ElfError),
    /// A field of a relocatable object has no relocation.
    MissingRelocation,
    /// A relocation's type is not `R_X86_64_PC32`.
    RelocationType(u32),
    /// A relocation's symbol is undefined.
    UndefinedSymbol,
    /// An entry's address is not in a code section, nor at its end.
    OutsideCode(CodeAddress),
    /// The entries before this one need more than 1 GiB of CFI instructions. No entry is used.
    TooMany,
}

impl core::error::Error for OrcError {}

impl fmt::Display for OrcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{:#x}: ", self.section, self.offset)?;
        match self.kind {
            OrcErrorKind::Machine(machine) => {
                write!(f, "the file is for machine {machine}; only the tables of AMD64 are known")
            }
            OrcErrorKind::Missing => {
                f.write_str("the section is missing, but the other table exists")
            }
            OrcErrorKind::Unreadable => f.write_str("the section's bytes cannot be read"),
            OrcErrorKind::Size { size, entry } => {
                write!(f, "the section has {size:#x} bytes, which is no multiple of {entry}")
            }
            OrcErrorKind::Counts { addresses, entries } => {
                write!(f, "the tables have {addresses} addresses and {entries} entries")
            }
            OrcErrorKind::HeaderSize(size) => {
                write!(f, "the header has {size:#x} bytes; a SHA-1 has 20")
            }
            OrcErrorKind::Relocations(error) => error.fmt(f),
            OrcErrorKind::MissingRelocation => f.write_str("the address has no relocation"),
            OrcErrorKind::RelocationType(kind) => {
                write!(f, "the relocation has type {kind}; the kernel writes R_X86_64_PC32 (2)")
            }
            OrcErrorKind::UndefinedSymbol => {
                f.write_str("the relocation refers to an undefined symbol")
            }
            OrcErrorKind::TooMany => {
                f.write_str("the entries before this one need more than 1 GiB of CFI instructions")
            }
            OrcErrorKind::OutsideCode(place) => write!(
                f,
                "the entry starts at {:#x} in section {}, which is not code",
                place.address, place.section
            ),
        }
    }
}
