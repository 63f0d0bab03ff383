//! Bytes with a byte order, read at any offset. An offset may be wrong in either direction, because consumers compute
//! some without a check.

use sframe_validator::Endian;

use crate::answer::Stop;

/// The consumer reads memory before or after the section.
pub(crate) const OUTSIDE: Stop = Stop::undecided("it reads memory outside the section");

/// A section or a part of one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes<'a> {
    data: &'a [u8],
    endian: Endian,
}

impl<'a> Bytes<'a> {
    pub(crate) const fn new(data: &'a [u8], endian: Endian) -> Bytes<'a> {
        Bytes { data, endian }
    }

    pub(crate) const fn len(&self) -> i64 {
        // A slice has at most isize::MAX bytes.
        self.data.len().cast_signed() as i64
    }

    /// The number of bytes from `at` to the end; none for a place outside.
    pub(crate) fn after(&self, at: i64) -> u64 {
        self.len().saturating_sub(at.max(0)).max(0).cast_unsigned()
    }

    fn array<const N: usize>(&self, at: i64) -> Result<[u8; N], Stop> {
        let at = usize::try_from(at).map_err(|_| OUTSIDE)?;
        self.data.get(at..).and_then(|rest| rest.first_chunk()).copied().ok_or(OUTSIDE)
    }

    pub(crate) fn u8(&self, at: i64) -> Result<u8, Stop> {
        Ok(u8::from_ne_bytes(self.array(at)?))
    }

    pub(crate) fn u16(&self, at: i64) -> Result<u16, Stop> {
        let bytes = self.array(at)?;
        Ok(match self.endian {
            Endian::Little => u16::from_le_bytes(bytes),
            Endian::Big => u16::from_be_bytes(bytes),
        })
    }

    pub(crate) fn u32(&self, at: i64) -> Result<u32, Stop> {
        let bytes = self.array(at)?;
        Ok(match self.endian {
            Endian::Little => u32::from_le_bytes(bytes),
            Endian::Big => u32::from_be_bytes(bytes),
        })
    }

    pub(crate) fn i32(&self, at: i64) -> Result<i32, Stop> {
        Ok(self.u32(at)?.cast_signed())
    }

    pub(crate) fn i64(&self, at: i64) -> Result<i64, Stop> {
        let bytes = self.array(at)?;
        Ok(match self.endian {
            Endian::Little => i64::from_le_bytes(bytes),
            Endian::Big => i64::from_be_bytes(bytes),
        })
    }

    /// An unsigned number of 1, 2 or 4 bytes.
    pub(crate) fn unsigned(&self, at: i64, width: u8) -> Result<u32, Stop> {
        match width {
            1 => self.u8(at).map(u32::from),
            2 => self.u16(at).map(u32::from),
            _ => self.u32(at),
        }
    }

    /// A signed number of 1, 2 or 4 bytes.
    pub(crate) fn signed(&self, at: i64, width: u8) -> Result<i32, Stop> {
        match width {
            1 => self.u8(at).map(|word| i32::from(word.cast_signed())),
            2 => self.u16(at).map(|word| i32::from(word.cast_signed())),
            _ => self.i32(at),
        }
    }
}
