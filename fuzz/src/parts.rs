//! A section taken apart: what is stored, field by field, so that one field can be changed and
//! everything else follows, or does not.
//!
//! [`Parts::read`] takes apart any section that tiles, and [`Parts::bytes`] puts the very same
//! bytes together again. Counts and offsets are not kept but computed, unless one is set to
//! something else.

mod read;
mod write;

use sframe_validator::section::{FreType, Version};
use sframe_validator::{Abi, Endian};

/// A section in parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The byte order.
    pub endian: Endian,
    /// The layout of entries and attributes, whatever the header says.
    pub version: Version,
    /// What rows mean, whatever the header says.
    pub abi: Abi,
    /// The section's address, which start fields count from.
    pub address: u64,
    /// Start fields count from themselves, whatever the flags say.
    pub pcrel: bool,
    /// The header.
    pub header: HeaderParts,
    /// The auxiliary header.
    pub auxiliary: Vec<u8>,
    /// Bytes between header and function table.
    pub gap_before_functions: Vec<u8>,
    /// Bytes between function table and rows.
    pub gap_before_rows: Vec<u8>,
    /// The functions in the order of the table.
    pub functions: Vec<FunctionParts>,
    /// The functions, by their place in the table, in the order of their rows.
    pub blocks: Vec<usize>,
    /// Bytes behind the last function's rows, inside the FRE sub-section.
    pub unused: Vec<u8>,
    /// Bytes behind the FRE sub-section.
    pub trailing: Vec<u8>,
    /// Bytes that are missing at the section's end.
    pub cut: usize,
}

/// The header's fields; `None`: what follows from the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the specification's names")]
pub struct HeaderParts {
    pub magic: u16,
    pub version: u8,
    pub flags: u8,
    pub abi_arch: u8,
    pub cfa_fixed_fp_offset: i8,
    pub cfa_fixed_ra_offset: i8,
    pub auxhdr_len: Option<u8>,
    pub num_fdes: Option<u32>,
    pub num_fres: Option<u32>,
    pub fre_len: Option<u32>,
    pub fdeoff: Option<u32>,
    pub freoff: Option<u32>,
}

/// A function: its entry, its attributes, its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionParts {
    /// Where it starts.
    pub start: u64,
    /// Bytes of code.
    pub size: u32,
    /// `func_start_fre_off`; `None`: where its rows are.
    pub fre_offset: Option<u32>,
    /// `func_num_fres`; `None`: as many as there are.
    pub num_fres: Option<u32>,
    /// The first info byte.
    pub info: u8,
    /// The second info byte (version 3).
    pub info2: u8,
    /// The size of the repeated block (since version 2).
    pub rep_size: u8,
    /// The padding (version 2).
    pub padding: u16,
    /// The width of the rows' start fields, whatever the info byte says.
    pub fre_type: FreType,
    /// Bytes in front of its rows and attributes that belong to no function.
    pub hole: Vec<u8>,
    /// The rows.
    pub rows: Vec<RowParts>,
}

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowParts {
    /// The start field.
    pub start: u32,
    /// The info byte; `None`: what follows from the rest.
    pub info: Option<u8>,
    /// Info bit 0.
    pub base_sp: bool,
    /// Info bit 7.
    pub mangled: bool,
    /// Bytes of a word.
    pub width: u8,
    /// The words as they are stored, not sign-extended.
    pub words: Vec<u32>,
}

impl FunctionParts {
    /// Whether its rows are of the flexible kind.
    #[must_use]
    pub const fn is_flexible(&self) -> bool {
        self.info2 & 0x1f == 1
    }

    /// Whether its rows repeat block by block.
    #[must_use]
    pub const fn repeats(&self) -> bool {
        self.info & 0x10 != 0
    }

    /// Bytes that rows can start in.
    #[must_use]
    pub fn length(&self) -> u32 {
        match self.rep_size {
            block if self.repeats() && block > 0 => self.size.min(block.into()),
            _ => self.size,
        }
    }

    /// The largest start that its rows' start fields hold.
    #[must_use]
    pub const fn largest_start(&self) -> u32 {
        match self.fre_type {
            FreType::Addr1 => 0xff,
            FreType::Addr2 => 0xffff,
            FreType::Addr4 => u32::MAX,
        }
    }
}

impl RowParts {
    /// Whether word `index` is a control word, which is unsigned, or the padding in its place.
    const fn is_control(&self, flexible: bool, index: usize) -> bool {
        match (flexible, self.words.len()) {
            (false, _) => false,
            (true, 5) => matches!(index, 0 | 2 | 3),
            (true, _) => index.is_multiple_of(2),
        }
    }

    /// Widens the words to `width` bytes, as what they are.
    pub fn widen(&mut self, flexible: bool, width: u8) {
        for index in 0..self.words.len() {
            if !self.is_control(flexible, index) {
                self.words[index] = self.signed(index).cast_unsigned();
            }
        }
        self.width = self.width.max(width);
        self.words.iter_mut().for_each(|word| *word &= mask(self.width));
    }

    /// Word `index` as an offset.
    #[must_use]
    pub const fn signed(&self, index: usize) -> i32 {
        let unused = 32 - 8 * self.width as u32;
        (self.words.as_slice()[index] << unused).cast_signed() >> unused
    }

    /// Sets word `index` to an offset, and widens the row where it does not fit.
    pub fn set_signed(&mut self, flexible: bool, index: usize, value: i32) {
        let width = match value {
            -0x80..=0x7f => 1,
            -0x8000..=0x7fff => 2,
            _ => 4,
        };
        self.widen(flexible, width);
        self.words[index] = value.cast_unsigned() & mask(self.width);
    }
}

const fn mask(width: u8) -> u32 {
    u32::MAX >> (32 - 8 * width as u32)
}
