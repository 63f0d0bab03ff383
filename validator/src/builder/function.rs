//! A function to be written, and its rows.

use alloc::vec::Vec;

use super::encode::{EncodedRow, encode_default, encode_flexible};
use super::{SectionBuilder, Writer};
use crate::section::{FreType, FunctionInfo, FunctionInfo2, RowInfo, Version};
use crate::unwind::Frame;

/// A function to be written.
#[derive(Clone, Debug)]
pub struct FunctionBuilder {
    start: u64,
    size: u32,
    rows: Vec<RowBuilder>,
    repeat: Option<u8>,
    signal: bool,
    pauth_key_b: bool,
    flexible: bool,
    /// What to write instead of what would be right.
    pub overrides: FunctionOverrides,
}

/// Values to write instead of what would be right.
#[derive(Clone, Debug, Default)]
pub struct FunctionOverrides {
    /// The stored start field.
    pub start_field: Option<i64>,
    /// Bytes from the start of the FRE sub-section to the function's rows.
    pub fre_offset: Option<u32>,
    /// The number of rows.
    pub num_fres: Option<u32>,
    /// The first info byte.
    pub info: Option<u8>,
    /// The second info byte (version 3).
    pub info2: Option<u8>,
    /// The size of the repeated block (since version 2).
    pub rep_size: Option<u8>,
    /// The padding (version 2).
    pub padding: Option<u16>,
    /// The width of the rows' start fields; a start that does not fit is cut.
    pub fre_type: Option<FreType>,
}

/// A row to be written.
#[derive(Clone, Debug)]
pub enum RowBuilder {
    /// What the row says; the builder finds the smallest encoding.
    Frame {
        /// Bytes from the function's start.
        start: u32,
        /// What holds from there.
        frame: Frame,
    },
    /// The info byte and the data words' bytes, as they are.
    Raw {
        /// Bytes from the function's start.
        start: u32,
        /// The info byte.
        info: u8,
        /// The bytes behind it.
        words: Vec<u8>,
    },
}

impl FunctionBuilder {
    /// A function at an address, `size` bytes long, without rows.
    #[must_use]
    pub const fn new(start: u64, size: u32) -> FunctionBuilder {
        FunctionBuilder {
            start,
            size,
            rows: Vec::new(),
            repeat: None,
            signal: false,
            pauth_key_b: false,
            flexible: false,
            overrides: FunctionOverrides {
                start_field: None,
                fre_offset: None,
                num_fres: None,
                info: None,
                info2: None,
                rep_size: None,
                padding: None,
                fre_type: None,
            },
        }
    }

    /// Where the function starts.
    #[must_use]
    pub const fn start(&self) -> u64 {
        self.start
    }

    /// Whether the version can mark what the function is.
    pub(super) fn fits(&self, version: Version) -> bool {
        let signal = self.signal && version < Version::V3;
        let repeat = self.repeat.is_some_and(|size| size > 0) && version == Version::V1;
        !signal && !repeat
    }

    /// Adds a row that holds from `start` bytes behind the function's start.
    #[must_use]
    pub fn row(mut self, start: u32, frame: Frame) -> FunctionBuilder {
        self.rows.push(RowBuilder::Frame { start, frame });
        self
    }

    /// Adds a row of the given info byte and bytes of data words.
    #[must_use]
    pub fn raw_row(mut self, start: u32, info: u8, words: &[u8]) -> FunctionBuilder {
        self.rows.push(RowBuilder::Raw { start, info, words: words.to_vec() });
        self
    }

    /// The rows are those of a block of `size` bytes that repeats.
    #[must_use]
    pub const fn repeat(mut self, size: u8) -> FunctionBuilder {
        self.repeat = Some(size);
        self
    }

    /// Marks a signal frame (version 3).
    #[must_use]
    pub const fn signal_frame(mut self) -> FunctionBuilder {
        self.signal = true;
        self
    }

    /// Names the B key for return addresses (AArch64).
    #[must_use]
    pub const fn pauth_key_b(mut self) -> FunctionBuilder {
        self.pauth_key_b = true;
        self
    }

    /// Writes flexible rows, also where default ones would do (version 3).
    #[must_use]
    pub const fn flexible(mut self) -> FunctionBuilder {
        self.flexible = true;
        self
    }

    /// Changes fields.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut FunctionOverrides)) -> FunctionBuilder {
        change(&mut self.overrides);
        self
    }
}

impl RowBuilder {
    const fn start(&self) -> u32 {
        match self {
            RowBuilder::Frame { start, .. } | RowBuilder::Raw { start, .. } => *start,
        }
    }
}

/// A function whose rows have their bytes.
pub(super) struct EncodedFunction<'a> {
    function: &'a FunctionBuilder,
    fre_offset: u32,
    info: u8,
    rep_size: u8,
    /// The number of rows that the function says it has.
    pub(super) num_fres: u32,
    /// The attributes (version 3) and the rows.
    pub(super) rows: Vec<u8>,
}

impl<'a> EncodedFunction<'a> {
    /// The error is the number of the row that has no encoding.
    pub(super) fn encode(
        section: &SectionBuilder,
        function: &'a FunctionBuilder,
        fre_offset: u32,
    ) -> Result<EncodedFunction<'a>, usize> {
        let (flexible, rows) = encode_rows(section, function)?;
        let o = &function.overrides;
        let last = function.rows.iter().map(RowBuilder::start).max().unwrap_or(0);
        let fre_type = o.fre_type.unwrap_or(FreType::for_start(last));
        let mut info = fre_type.code();
        let bits = [
            (function.repeat.is_some(), FunctionInfo::PC_MASK),
            (function.pauth_key_b, FunctionInfo::PAUTH_KEY_B),
            (function.signal, FunctionInfo::SIGNAL),
        ];
        for (_, bit) in bits.iter().filter(|(set, _)| *set) {
            info |= bit;
        }
        let info = o.info.unwrap_or(info);
        let count = u32::try_from(rows.len()).unwrap_or(u32::MAX);
        let num_fres = o.num_fres.unwrap_or(count);
        let rep_size = o.rep_size.unwrap_or(function.repeat.unwrap_or(0));
        let mut out = Writer { bytes: Vec::new(), endian: section.endian };
        if section.version == Version::V3 {
            let default = if flexible { FunctionInfo2::FLEX } else { FunctionInfo2::DEFAULT };
            out.u16(u16::try_from(num_fres).unwrap_or(u16::MAX));
            out.u8(info);
            out.u8(o.info2.unwrap_or(default));
            out.u8(rep_size);
        }
        for row in &rows {
            write_row(&mut out, row, fre_type);
        }
        Ok(EncodedFunction { function, fre_offset, info, rep_size, num_fres, rows: out.bytes })
    }

    /// Writes the table entry at section offset `field`; `None`: the start is out of range.
    pub(super) fn write_entry(
        &self,
        section: &SectionBuilder,
        out: &mut Writer,
        field: u64,
    ) -> Option<()> {
        let o = &self.function.overrides;
        let base = if section.flags().pcrel() { field } else { 0 };
        let from = section.address.wrapping_add(base);
        let start = match (o.start_field, section.relocatable) {
            (Some(value), _) => value,
            (None, true) => 0,
            (None, false) => self.function.start.wrapping_sub(from).cast_signed(),
        };
        let fre_offset = o.fre_offset.unwrap_or(self.fre_offset);
        if section.version == Version::V3 {
            out.i64(start);
        } else {
            out.u32(i32::try_from(start).ok()?.cast_unsigned());
        }
        out.u32(self.function.size);
        out.u32(fre_offset);
        if section.version < Version::V3 {
            out.u32(self.num_fres);
            out.u8(self.info);
        }
        if section.version == Version::V2 {
            out.u8(self.rep_size);
            out.u16(o.padding.unwrap_or(0));
        }
        Some(())
    }
}

/// All rows of a function as default ones, or all as flexible ones.
fn encode_rows(
    section: &SectionBuilder,
    function: &FunctionBuilder,
) -> Result<(bool, Vec<EncodedRow>), usize> {
    let all = |flexible: bool| {
        let rows = function.rows.iter().enumerate();
        let rows = rows.map(|(number, row)| encode_row(section, row, flexible).ok_or(number));
        rows.collect::<Result<Vec<_>, _>>()
    };
    let default = if function.flexible { Err(0) } else { all(false) };
    match default {
        Ok(rows) => Ok((false, rows)),
        Err(row) if section.version < Version::V3 => Err(row),
        Err(_) => all(true).map(|rows| (true, rows)),
    }
}

fn encode_row(section: &SectionBuilder, row: &RowBuilder, flexible: bool) -> Option<EncodedRow> {
    match row {
        RowBuilder::Raw { start, info, words } => {
            Some(EncodedRow { start: *start, info: RowInfo(*info), words: words.clone() })
        }
        RowBuilder::Frame { start, frame } => {
            let encode = if flexible { encode_flexible } else { encode_default };
            encode(section.version, section.abi, section.endian, *start, frame)
        }
    }
}

fn write_row(out: &mut Writer, row: &EncodedRow, fre_type: FreType) {
    let [a, b, ..] = row.start.to_le_bytes();
    match fre_type {
        FreType::Addr1 => out.u8(a),
        FreType::Addr2 => out.u16(u16::from_le_bytes([a, b])),
        FreType::Addr4 => out.u32(row.start),
    }
    out.u8(row.info.0);
    out.bytes.extend_from_slice(&row.words);
}
