//! A section as it is stored, field by field. Other values follow a changed field unless they are set explicitly.

mod bytes;
mod read;

use alloc::vec::Vec;

use crate::abi::{Abi, Endian};
use crate::section::{
    FdeType, Flags, FreType, FunctionInfo, FunctionInfo2, HEADER_SIZE, MAGIC, Version,
};

/// A section as it is stored.
///
/// Counts and offsets are computed from the rest, unless they are set explicitly.
///
/// ```
/// use sframe_validator::write::{StoredFunction, StoredRow, StoredSection};
/// use sframe_validator::{Abi, Version};
///
/// let mut section = StoredSection::new(Version::V2, Abi::Amd64);
/// let mut function = StoredFunction::new(0x1000, 16);
/// // Bit 0 of the info byte: the CFA's base is SP; bits 1 to 4: one word follows.
/// function.rows.push(StoredRow::raw(0, 0x03, &[8]));
/// section.push(function);
/// let sound = section.bytes();
/// assert_eq!(StoredSection::read(&sound, 0).expect("sound").bytes(), sound);
///
/// section.header.num_fdes = Some(1_000);
/// let broken = section.bytes();
/// assert_eq!(broken[..8], sound[..8]);
/// assert_eq!(broken[8..12], [0xe8, 3, 0, 0]);
/// assert_eq!(broken[12..], sound[12..]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSection {
    /// The byte order.
    pub endian: Endian,
    /// The version whose layout entries and attributes have, independent of the header.
    pub version: Version,
    /// The ABI that determines the meaning of rows, independent of the header.
    pub abi: Abi,
    /// The section's address, from which start fields are computed.
    pub address: u64,
    /// Whether start fields count from themselves, independent of the flags.
    pub pcrel: bool,
    /// The header.
    pub header: StoredHeader,
    /// The auxiliary header.
    pub auxiliary: Vec<u8>,
    /// Bytes between the header and the function table.
    pub gap_before_functions: Vec<u8>,
    /// Bytes between the function table and the rows.
    pub gap_before_rows: Vec<u8>,
    /// The functions in the order of the table.
    pub functions: Vec<StoredFunction>,
    /// The order in which the functions' rows are stored, as indexes into `functions`. The rows of functions that are
    /// not listed are not written.
    pub row_order: Vec<usize>,
    /// Bytes after the last function's rows, inside the FRE sub-section.
    pub unused_rows: Vec<u8>,
    /// Bytes after the FRE sub-section.
    pub trailing: Vec<u8>,
    /// The number of bytes removed from the section's end.
    pub cut: usize,
}

/// The header's fields. `None` stands for the computed value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredHeader {
    /// `sfp_magic`.
    pub magic: u16,
    /// `sfp_version`.
    pub version: u8,
    /// `sfp_flags`.
    pub flags: u8,
    /// `sfh_abi_arch`.
    pub abi_arch: u8,
    /// `sfh_cfa_fixed_fp_offset`.
    pub cfa_fixed_fp_offset: i8,
    /// `sfh_cfa_fixed_ra_offset`.
    pub cfa_fixed_ra_offset: i8,
    /// `sfh_auxhdr_len`.
    pub auxhdr_len: Option<u8>,
    /// `sfh_num_fdes`.
    pub num_fdes: Option<u32>,
    /// `sfh_num_fres`.
    pub num_fres: Option<u32>,
    /// `sfh_fre_len`.
    pub fre_len: Option<u32>,
    /// `sfh_fdeoff`.
    pub fdeoff: Option<u32>,
    /// `sfh_freoff`.
    pub freoff: Option<u32>,
}

/// A function (FDE): its entry in the table, its attributes and its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFunction {
    /// The address at which it starts.
    pub start: u64,
    /// The start field; if `None`, it is computed from `start`.
    pub start_field: Option<i64>,
    /// The size in bytes of code.
    pub size: u32,
    /// The stored offset in bytes from the start of the FRE sub-section to the function's rows; if `None`, their actual
    /// offset.
    pub fre_offset: Option<u32>,
    /// The stored number of rows; if `None`, the actual number.
    pub num_fres: Option<u32>,
    /// The first info byte.
    pub info: u8,
    /// The second info byte (version 3).
    pub info2: u8,
    /// The size of the repeated block (since version 2).
    pub rep_size: u8,
    /// The padding (version 2).
    pub padding: u16,
    /// The width of the rows' start fields, independent of the info byte.
    pub fre_type: FreType,
    /// Bytes before its attributes and rows that belong to no function.
    pub hole: Vec<u8>,
    /// The rows.
    pub rows: Vec<StoredRow>,
}

/// A row (FRE).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRow {
    /// The start field: the offset in bytes from the function's start. It is truncated to the width of the field.
    pub start: u32,
    /// The info byte; if `None`, it is computed from the rest.
    pub info: Option<u8>,
    /// Bit 0 of the info byte.
    pub base_sp: bool,
    /// Bit 7 of the info byte.
    pub mangled: bool,
    /// The size of a word in bytes: 1, 2 or 4.
    pub width: u8,
    /// The words as they are stored, without sign extension.
    pub words: Vec<u32>,
}

impl StoredSection {
    /// A linked section at address 0 in the ABI's byte order, without functions.
    #[must_use]
    pub const fn new(version: Version, abi: Abi) -> StoredSection {
        let flags = match version {
            Version::V1 => Flags::SORTED,
            Version::V2 | Version::V3 => Flags::SORTED | Flags::PCREL,
        };
        StoredSection {
            endian: abi.endian(),
            version,
            abi,
            address: 0,
            pcrel: Flags(flags).pcrel(),
            header: StoredHeader {
                magic: MAGIC,
                version: version.number(),
                flags,
                abi_arch: abi.id(),
                cfa_fixed_fp_offset: 0,
                cfa_fixed_ra_offset: abi.fixed_ra_offset(),
                auxhdr_len: None,
                num_fdes: None,
                num_fres: None,
                fre_len: None,
                fdeoff: None,
                freoff: None,
            },
            auxiliary: Vec::new(),
            gap_before_functions: Vec::new(),
            gap_before_rows: Vec::new(),
            functions: Vec::new(),
            row_order: Vec::new(),
            unused_rows: Vec::new(),
            trailing: Vec::new(),
            cut: 0,
        }
    }

    /// Adds a function at the end of the table, and its rows after all others.
    pub fn push(&mut self, function: StoredFunction) {
        self.row_order.push(self.functions.len());
        self.functions.push(function);
    }

    /// The section offset of a function's entry, which begins with its start field.
    #[must_use]
    pub fn entry_offset(&self, function: usize) -> u64 {
        let before = self.auxiliary.len() + self.gap_before_functions.len();
        HEADER_SIZE + before as u64 + function as u64 * self.version.entry_size()
    }

    /// The value of a function's start field, before it is truncated to the field's width.
    pub(super) fn start_value(&self, index: usize, function: &StoredFunction) -> i64 {
        let field = if self.pcrel { self.entry_offset(index) } else { 0 };
        let distance = function.start.wrapping_sub(self.address.wrapping_add(field));
        function.start_field.unwrap_or(distance.cast_signed())
    }
}

impl StoredFunction {
    /// A function without rows, attributes or marks. Its rows will have start fields of one byte.
    #[must_use]
    pub const fn new(start: u64, size: u32) -> StoredFunction {
        StoredFunction {
            start,
            start_field: None,
            size,
            fre_offset: None,
            num_fres: None,
            info: 0,
            info2: 0,
            rep_size: 0,
            padding: 0,
            fre_type: FreType::Addr1,
            hole: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// The number of rows that the function states.
    #[must_use]
    pub(super) fn stored_count(&self) -> u32 {
        self.num_fres.unwrap_or(u32::try_from(self.rows.len()).unwrap_or(u32::MAX))
    }

    /// How the words of its rows are read. Rows of a type that does not exist count as default ones.
    #[must_use]
    pub const fn fde_type(&self) -> FdeType {
        match FunctionInfo2(self.info2).fde_type_code() {
            FunctionInfo2::FLEX => FdeType::Flex,
            _ => FdeType::Default,
        }
    }

    /// Whether its rows repeat in each block.
    #[must_use]
    pub const fn repeats(&self) -> bool {
        FunctionInfo(self.info).is_pc_mask()
    }

    /// The number of bytes of code in which rows can start: those of the function, or of its repeated block.
    #[must_use]
    pub fn length(&self) -> u32 {
        match self.rep_size {
            block if self.repeats() && block > 0 => self.size.min(block.into()),
            _ => self.size,
        }
    }

    /// The largest start that fits in its rows' start fields.
    #[must_use]
    pub const fn largest_start(&self) -> u32 {
        match self.fre_type {
            FreType::Addr1 => 0xff,
            FreType::Addr2 => 0xffff,
            FreType::Addr4 => u32::MAX,
        }
    }
}

impl StoredRow {
    /// A row with the given info byte and bytes of data words, even if these are inconsistent.
    #[must_use]
    pub fn raw(start: u32, info: u8, words: &[u8]) -> StoredRow {
        let words = words.iter().copied().map(u32::from).collect();
        StoredRow { start, info: Some(info), base_sp: false, mangled: false, width: 1, words }
    }

    /// The info byte.
    #[must_use]
    pub fn stored_info(&self) -> u8 {
        let size = match self.width {
            1 => 0,
            2 => 1,
            _ => 2,
        };
        let [count, ..] = self.words.len().to_le_bytes();
        let bits = u8::from(self.base_sp) | u8::from(self.mangled) << 7;
        self.info.unwrap_or(bits | (count & 0xf) << 1 | size << 5)
    }

    /// Word `index` as an offset.
    #[must_use]
    pub fn signed(&self, index: usize) -> Option<i32> {
        let unused = 32 - self.bits();
        Some((*self.words.get(index)? << unused).cast_signed() >> unused)
    }

    /// Sets word `index` of a default row to an offset, and widens the words if it does not fit. There is no change if there
    /// is no such word.
    pub fn set_signed(&mut self, index: usize, value: i32) {
        let width = match value {
            -0x80..=0x7f => 1,
            -0x8000..=0x7fff => 2,
            _ => 4,
        };
        self.widen(FdeType::Default, width);
        let mask = self.mask();
        if let Some(word) = self.words.get_mut(index) {
            *word = value.cast_unsigned() & mask;
        }
    }

    /// Widens the words to at least `width` bytes without changing their meaning.
    pub fn widen(&mut self, fde_type: FdeType, width: u8) {
        for index in 0..self.words.len() {
            let signed = self.signed(index).filter(|_| !self.is_control(fde_type, index));
            if let (Some(value), Some(word)) = (signed, self.words.get_mut(index)) {
                *word = value.cast_unsigned();
            }
        }
        self.width = self.width.max(width);
        let mask = self.mask();
        self.words.iter_mut().for_each(|word| *word &= mask);
    }

    /// Whether word `index` is a control word, which is unsigned, or the padding in its place.
    const fn is_control(&self, fde_type: FdeType, index: usize) -> bool {
        match (fde_type, self.words.len()) {
            (FdeType::Default, _) => false,
            (FdeType::Flex, 5) => matches!(index, 0 | 2 | 3),
            (FdeType::Flex, _) => index.is_multiple_of(2),
        }
    }

    /// The number of bits in a word.
    const fn bits(&self) -> u32 {
        match self.width {
            1 => 8,
            2 => 16,
            _ => 32,
        }
    }

    /// A mask of the bits of a word that are stored.
    pub(super) const fn mask(&self) -> u32 {
        u32::MAX >> (32 - self.bits())
    }
}
