//! Numbers in the class and byte order of a file.

use super::Class;
use crate::abi::Endian;

/// The class and the byte order of a file, which decide how it stores numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Numbers {
    pub(super) class: Class,
    pub(super) endian: Endian,
}

impl Numbers {
    /// The size of an address in bytes.
    pub(super) const fn word(self) -> usize {
        match self.class {
            Class::Elf32 => 4,
            Class::Elf64 => 8,
        }
    }

    /// The number in at most 8 bytes.
    pub(super) fn number(self, bytes: &[u8]) -> u64 {
        let shift = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        match self.endian {
            Endian::Little => bytes.iter().rev().fold(0, shift),
            Endian::Big => bytes.iter().fold(0, shift),
        }
    }

    /// The number in `size` bytes at an offset.
    pub(super) fn number_at(self, data: &[u8], offset: usize, size: usize) -> Option<u64> {
        Some(self.number(data.get(offset..)?.get(..size)?))
    }

    /// The signed number in `size` bytes at an offset, in two's complement of 64 bits.
    pub(super) fn signed_at(self, data: &[u8], offset: usize, size: usize) -> Option<u64> {
        let unused = u32::try_from(8_usize.checked_sub(size)?.checked_mul(8)?).ok()?;
        let number = self.number_at(data, offset, size)?.checked_shl(unused)?.cast_signed();
        Some((number >> unused).cast_unsigned())
    }
}
