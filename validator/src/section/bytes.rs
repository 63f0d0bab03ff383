//! Bytes with a byte order. Every read is checked, so nothing here can panic.

use crate::abi::Endian;

/// A slice and the byte order of its fields. Offsets count from the slice's start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes<'a> {
    pub(crate) data: &'a [u8],
    pub(crate) endian: Endian,
}

impl<'a> Bytes<'a> {
    pub(crate) const fn new(data: &'a [u8], endian: Endian) -> Bytes<'a> {
        Bytes { data, endian }
    }

    /// The bytes from `start` up to `end` or the end of the data, whichever comes first.
    pub(crate) fn clipped(self, start: u64, end: u64) -> &'a [u8] {
        let clip = |offset: u64| {
            usize::try_from(offset).map_or(self.data.len(), |offset| offset.min(self.data.len()))
        };
        self.data.get(clip(start)..clip(end)).unwrap_or_default()
    }

    #[inline]
    fn array<const N: usize>(self, offset: usize) -> Option<[u8; N]> {
        self.data.get(offset..)?.first_chunk().copied()
    }

    #[inline]
    pub(crate) fn u8(self, offset: usize) -> Option<u8> {
        self.data.get(offset).copied()
    }

    #[inline]
    pub(crate) fn u16(self, offset: usize) -> Option<u16> {
        let bytes = self.array(offset)?;
        Some(match self.endian {
            Endian::Little => u16::from_le_bytes(bytes),
            Endian::Big => u16::from_be_bytes(bytes),
        })
    }

    #[inline]
    pub(crate) fn u32(self, offset: usize) -> Option<u32> {
        let bytes = self.array(offset)?;
        Some(match self.endian {
            Endian::Little => u32::from_le_bytes(bytes),
            Endian::Big => u32::from_be_bytes(bytes),
        })
    }

    #[inline]
    pub(crate) fn i32(self, offset: usize) -> Option<i32> {
        self.u32(offset).map(u32::cast_signed)
    }

    #[inline]
    pub(crate) fn i64(self, offset: usize) -> Option<i64> {
        let bytes = self.array(offset)?;
        Some(match self.endian {
            Endian::Little => i64::from_le_bytes(bytes),
            Endian::Big => i64::from_be_bytes(bytes),
        })
    }
}
