//! The header's fields as they are stored: consumers test them, each in its own way.

use crate::answer::Stop;
use crate::bytes::Bytes;

/// The header's fixed part in bytes.
pub(crate) const SIZE: i64 = 28;
/// The magic number.
pub(crate) const MAGIC: u16 = 0xdee2;
/// Functions are sorted.
pub(crate) const SORTED: u8 = 1;
/// Starts are relative to their fields.
pub(crate) const PCREL: u8 = 4;

/// The stored fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    pub(crate) magic: u16,
    pub(crate) version: u8,
    pub(crate) flags: u8,
    pub(crate) abi: u8,
    pub(crate) fixed_fp: i8,
    pub(crate) fixed_ra: i8,
    pub(crate) auxiliary: u8,
    pub(crate) functions: u32,
    pub(crate) rows: u32,
    pub(crate) rows_length: u32,
    pub(crate) function_offset: u32,
    pub(crate) row_offset: u32,
}

impl Header {
    pub(crate) fn read(bytes: Bytes<'_>) -> Result<Header, Stop> {
        Ok(Header {
            magic: bytes.u16(0)?,
            version: bytes.u8(2)?,
            flags: bytes.u8(3)?,
            abi: bytes.u8(4)?,
            fixed_fp: bytes.u8(5)?.cast_signed(),
            fixed_ra: bytes.u8(6)?.cast_signed(),
            auxiliary: bytes.u8(7)?,
            functions: bytes.u32(8)?,
            rows: bytes.u32(12)?,
            rows_length: bytes.u32(16)?,
            function_offset: bytes.u32(20)?,
            row_offset: bytes.u32(24)?,
        })
    }

    /// The header's size with the auxiliary header.
    pub(crate) fn size(&self) -> i64 {
        SIZE + i64::from(self.auxiliary)
    }

    /// The section offset of the function table.
    pub(crate) fn functions_at(&self) -> i64 {
        self.size() + i64::from(self.function_offset)
    }

    /// The section offset of the rows.
    pub(crate) fn rows_at(&self) -> i64 {
        self.size() + i64::from(self.row_offset)
    }

    pub(crate) const fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}
