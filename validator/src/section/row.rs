//! Stored rows (FREs): a start offset, an info byte, and up to 15 data words (V3 2.4).

use super::bytes::Bytes;
use crate::abi::Endian;

/// The width of the start field of a function's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FreType {
    /// `SFRAME_FRE_TYPE_ADDR1`, 1 byte.
    Addr1,
    /// `SFRAME_FRE_TYPE_ADDR2`, 2 bytes.
    Addr2,
    /// `SFRAME_FRE_TYPE_ADDR4`, 4 bytes.
    Addr4,
}

impl FreType {
    /// The type with a stored code; `None` for a code that no version defines.
    #[must_use]
    pub const fn from_code(code: u8) -> Option<FreType> {
        match code {
            0 => Some(FreType::Addr1),
            1 => Some(FreType::Addr2),
            2 => Some(FreType::Addr4),
            _ => None,
        }
    }

    /// The stored code.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            FreType::Addr1 => 0,
            FreType::Addr2 => 1,
            FreType::Addr4 => 2,
        }
    }

    /// The size of the start field in bytes.
    #[must_use]
    pub const fn width(self) -> usize {
        1 << self.code()
    }

    /// The start field at the beginning of `bytes`.
    #[inline]
    pub(super) fn start(self, bytes: [u8; 4], endian: Endian) -> u32 {
        let others = u32::BITS - (u8::BITS << self.code());
        match endian {
            Endian::Little => u32::from_le_bytes(bytes) << others >> others,
            Endian::Big => u32::from_be_bytes(bytes) >> others,
        }
    }

    /// The narrowest type that can hold `start`.
    #[must_use]
    pub const fn for_start(start: u32) -> FreType {
        match start {
            0..=0xff => FreType::Addr1,
            0x100..=0xffff => FreType::Addr2,
            _ => FreType::Addr4,
        }
    }
}

/// The info byte of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RowInfo(pub u8);

impl RowInfo {
    /// Bit 0: the CFA's base is SP; if clear, it is FP.
    pub const BASE_SP: u8 = 0x01;
    /// Bit 7: the return address is signed (AArch64).
    pub const MANGLED_RA: u8 = 0x80;

    /// Whether the CFA's base is SP (default rows).
    #[must_use]
    pub const fn base_is_sp(self) -> bool {
        self.0 & RowInfo::BASE_SP != 0
    }

    /// The number of data words, in bits 1 to 4.
    #[must_use]
    pub const fn word_count(self) -> u8 {
        (self.0 >> 1) & 0xf
    }

    /// The size of a data word in bytes, from bits 5 and 6; `None` for the reserved code 3.
    #[must_use]
    pub const fn word_size(self) -> Option<u8> {
        let code = (self.0 >> 5) & 3;
        if code < 3 { Some(1 << code) } else { None }
    }

    /// Whether the return address is signed (AArch64).
    #[must_use]
    pub const fn mangled_ra(self) -> bool {
        self.0 & RowInfo::MANGLED_RA != 0
    }
}

/// The data words of a row.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) size: u8,
    pub(super) endian: Endian,
}

impl<'a> Words<'a> {
    /// The number of words.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.bytes.len() / self.size as usize
    }

    /// The size of a word in bytes: 1, 2 or 4.
    #[must_use]
    pub const fn size(&self) -> u8 {
        self.size
    }

    /// The stored bytes of all words.
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Word `index` as a signed number, like a stored offset.
    #[inline]
    #[must_use]
    pub fn signed(&self, index: usize) -> Option<i32> {
        let bytes = Bytes::new(self.bytes, self.endian);
        let at = index.checked_mul(usize::from(self.size))?;
        match self.size {
            1 => bytes.u8(at).map(|word| i32::from(word.cast_signed())),
            2 => bytes.u16(at).map(|word| i32::from(word.cast_signed())),
            _ => bytes.i32(at),
        }
    }

    /// Word `index` as an unsigned number, like a stored control word.
    #[inline]
    #[must_use]
    pub fn unsigned(&self, index: usize) -> Option<u32> {
        let bytes = Bytes::new(self.bytes, self.endian);
        let at = index.checked_mul(usize::from(self.size))?;
        match self.size {
            1 => bytes.u8(at).map(u32::from),
            2 => bytes.u16(at).map(u32::from),
            _ => bytes.u32(at),
        }
    }
}

/// A row as it is stored.
#[derive(Clone, Copy, Debug)]
pub struct FrameRowEntry<'a> {
    /// The section offset of the row.
    pub offset: u64,
    /// The offset in bytes from the start of the function, or of the repeated block.
    pub start: u32,
    /// The info byte.
    pub info: RowInfo,
    /// The data words.
    pub words: Words<'a>,
    /// The width of the start field.
    pub fre_type: FreType,
}

impl FrameRowEntry<'_> {
    /// The section offset of the info byte.
    #[must_use]
    pub const fn info_offset(&self) -> u64 {
        self.offset + self.fre_type.width() as u64
    }

    /// The section offset of data word `index`.
    #[must_use]
    pub const fn word_offset(&self, index: usize) -> u64 {
        let words = (index as u64).saturating_mul(self.words.size as u64);
        self.info_offset().saturating_add(1).saturating_add(words)
    }

    /// The size of the whole row in bytes.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.fre_type.width() as u64 + 1 + self.words.bytes.len() as u64
    }
}

/// A row with at most 8 bytes of data words, like nearly all rows. If enough bytes follow, it is read in a few loads,
/// without a check for each field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShortRow<'a> {
    pub(crate) start: u32,
    pub(crate) info: RowInfo,
    /// The size of the whole row in bytes.
    pub(crate) size: usize,
    /// The data words and the following bytes.
    bytes: &'a [u8; 8],
    endian: Endian,
}

impl<'a> ShortRow<'a> {
    /// The number of bytes that must be available from the row's start: the widest start field, the info byte, and 8
    /// bytes of words.
    const ROOM: usize = 4 + 1 + 8;

    /// The size of the data words in bytes, by info byte; more than 8 if the word size is reserved.
    #[expect(clippy::indexing_slicing, clippy::cast_possible_truncation, reason = "constant")]
    const LENGTHS: [u8; 256] = {
        let mut lengths = [u8::MAX; 256];
        let mut info = 0;
        while info < 256 {
            let row = RowInfo(info as u8);
            if let Some(size) = row.word_size() {
                lengths[info] = row.word_count() * size;
            }
            info += 1;
        }
        lengths
    };

    #[inline]
    pub(super) fn read(
        bytes: &'a [u8; ShortRow::ROOM],
        fre_type: FreType,
        endian: Endian,
    ) -> Option<ShortRow<'a>> {
        let width = fre_type.width();
        let info = *bytes.get(width)?;
        let length = usize::from(*ShortRow::LENGTHS.get(usize::from(info))?);
        if length > 8 {
            return None;
        }
        Some(ShortRow {
            start: fre_type.start(*bytes.first_chunk()?, endian),
            info: RowInfo(info),
            size: width + 1 + length,
            bytes: bytes.get(width + 1..)?.first_chunk()?,
            endian,
        })
    }

    /// The first three data words as signed numbers. Only as many as [`RowInfo::word_count`] belong to the row.
    #[inline]
    pub(super) fn signed(&self) -> [i32; 3] {
        let [a, b, c, d, e, f, g, h] = *self.bytes;
        let half = |bytes| match self.endian {
            Endian::Little => i32::from(i16::from_le_bytes(bytes)),
            Endian::Big => i32::from(i16::from_be_bytes(bytes)),
        };
        let whole = |bytes| match self.endian {
            Endian::Little => i32::from_le_bytes(bytes),
            Endian::Big => i32::from_be_bytes(bytes),
        };
        match self.info.word_size() {
            Some(1) => [a, b, c].map(|byte| i32::from(byte.cast_signed())),
            Some(2) => [[a, b], [c, d], [e, f]].map(half),
            _ => [whole([a, b, c, d]), whole([e, f, g, h]), 0],
        }
    }
}

#[cfg(feature = "rules")]
impl ShortRow<'_> {
    /// Masks of the lowest bytes of a number, by their count.
    #[expect(clippy::indexing_slicing, reason = "constant")]
    const MASKS: [u64; 9] = {
        let mut masks = [0; 9];
        let mut length = 1;
        while length <= 8 {
            masks[length] = u64::MAX >> (64 - 8 * length);
            length += 1;
        }
        masks
    };

    /// The bytes of the data words, the first one lowest, followed by zeros. Together with the info byte, they are the
    /// whole content of the row.
    #[inline]
    pub(crate) fn packed_words(&self) -> u64 {
        let length = ShortRow::LENGTHS.get(usize::from(self.info.0)).copied().unwrap_or(0);
        let mask = ShortRow::MASKS.get(usize::from(length)).copied().unwrap_or(u64::MAX);
        u64::from_le_bytes(*self.bytes) & mask
    }
}
