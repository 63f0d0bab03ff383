//! Errors in the bytes of a section, with their places.

use core::fmt;

/// A place in a section that cannot be read as the format specifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// The offset in bytes from the start of the section to the field.
    pub offset: u64,
    /// The specification's name of the field.
    pub field: &'static str,
    /// The kind of error.
    pub kind: ErrorKind,
}

/// The ways in which a field can be unreadable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The section, or the sub-section that contains the field, ends before the field does.
    Truncated {
        /// The number of bytes that the field needs.
        needed: u64,
        /// The number of bytes left.
        available: u64,
    },
    /// The magic number is not 0xdee2, in either byte order or in the one that the caller required.
    BadMagic(u16),
    /// This reader does not know the version.
    UnknownVersion(u8),
    /// This reader does not know the ABI identifier, so rows have no meaning.
    UnknownAbi(u8),
    /// The FRE type is not ADDR1, ADDR2 or ADDR4.
    UnknownFreType(u8),
    /// The FDE type is neither DEFAULT nor FLEX.
    UnknownFdeType(u8),
    /// The data word size code is 3, which is reserved, so the row's length is unknown.
    ReservedWordSize,
    /// This number of data words has no meaning in a row of this kind.
    WordCount(u8),
    /// The control words of a flexible row do not match its number of words.
    FlexLayout,
    /// The CFA rule of a flexible row has no base register.
    CfaWithoutRegister,
    /// The size of a repeated block is 0, or the version does not record it, so rows cannot be found by PC.
    UnknownRepeatSize,
    /// In a relocatable object, the function's start field has no relocation.
    MissingRelocation,
    /// The relocation at the function's start field is `R_*_NONE`: `ld -r` discarded the function.
    Discarded,
    /// The rows read so far are longer than the sub-section, so functions must share rows.
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
                write!(f, "needs {needed} bytes, but {available} are left")
            }
            ErrorKind::BadMagic(magic) => write!(f, "magic {magic:#06x} is not 0xdee2"),
            ErrorKind::UnknownVersion(version) => {
                write!(f, "version {version} is not 1, 2 or 3")
            }
            ErrorKind::UnknownAbi(abi) => write!(f, "ABI identifier {abi} is not one of 1 to 4"),
            ErrorKind::UnknownFreType(kind) => write!(f, "FRE type {kind} is not 0, 1 or 2"),
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
                f.write_str("the size of the repeated block is unknown")
            }
            ErrorKind::MissingRelocation => {
                f.write_str("no relocation gives the function's start address")
            }
            ErrorKind::Discarded => f.write_str("the function was discarded by the linker"),
            ErrorKind::SharedRows => f.write_str(
                "the rows read are longer than the sub-section, so functions share rows",
            ),
        }
    }
}
