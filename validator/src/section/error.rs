//! What can be wrong with the bytes of a section, and where.

use core::fmt;

/// A place in a section that cannot be read as the format says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// Bytes from the start of the section to the field.
    pub offset: u64,
    /// The field, by the specification's name.
    pub field: &'static str,
    /// What is wrong with it.
    pub kind: ErrorKind,
}

/// The ways in which a field can be unreadable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The section, or the sub-section the field is in, ends first.
    Truncated {
        /// Bytes the field takes.
        needed: u64,
        /// Bytes there are.
        available: u64,
    },
    /// Not 0xdee2 in either byte order, or not in the one the caller asked for.
    BadMagic(u16),
    /// A version this reader does not know.
    UnknownVersion(u8),
    /// An ABI identifier this reader does not know, so rows have no meaning.
    UnknownAbi(u8),
    /// An FRE type other than ADDR1, ADDR2 and ADDR4.
    UnknownFreType(u8),
    /// An FDE type other than DEFAULT and FLEX.
    UnknownFdeType(u8),
    /// The reserved data word size code 3: the row's length is unknown.
    ReservedWordSize,
    /// A number of data words that has no meaning in this kind of row.
    WordCount(u8),
    /// A flexible row whose control words do not lead to its number of words.
    FlexLayout,
    /// A flexible row whose CFA rule has no base register.
    CfaWithoutRegister,
    /// A repeated block of size 0 (or of a size the version does not record) has no rows by PC.
    UnknownRepeatSize,
    /// A relocatable object has no relocation at the function's start field.
    MissingRelocation,
    /// The relocation at the function's start field is `R_*_NONE`: `ld -r` discarded the function.
    Discarded,
    /// More bytes of rows were read than the sub-section holds: functions share rows.
    SharedRows,
}

impl Error {
    pub(crate) const fn new(offset: u64, field: &'static str, kind: ErrorKind) -> Error {
        Error { offset, field, kind }
    }
}

impl core::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at section offset {:#x}: {}", self.field, self.offset, self.kind)
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ErrorKind::Truncated { needed, available } => {
                write!(f, "needs {needed} bytes, {available} are left")
            }
            ErrorKind::BadMagic(magic) => write!(f, "magic {magic:#06x} is not 0xdee2"),
            ErrorKind::UnknownVersion(version) => {
                write!(f, "version {version} is none of 1, 2, 3")
            }
            ErrorKind::UnknownAbi(abi) => write!(f, "ABI identifier {abi} is none of 1 to 4"),
            ErrorKind::UnknownFreType(kind) => write!(f, "FRE type {kind} is none of 0, 1, 2"),
            ErrorKind::UnknownFdeType(kind) => write!(f, "FDE type {kind} is neither 0 nor 1"),
            ErrorKind::ReservedWordSize => {
                f.write_str("data word size code 3 is reserved, so the row's length is unknown")
            }
            ErrorKind::WordCount(count) => {
                write!(f, "{count} data words have no meaning in a row of this kind")
            }
            ErrorKind::FlexLayout => {
                f.write_str("the control words do not add up to the number of data words")
            }
            ErrorKind::CfaWithoutRegister => {
                f.write_str("the CFA's control word names no base register")
            }
            ErrorKind::UnknownRepeatSize => {
                f.write_str("the size of the repeated block is not known")
            }
            ErrorKind::MissingRelocation => {
                f.write_str("no relocation gives the function's start address")
            }
            ErrorKind::Discarded => f.write_str("the function was discarded by the linker"),
            ErrorKind::SharedRows => {
                f.write_str("the rows read are longer than the sub-section: functions share rows")
            }
        }
    }
}
