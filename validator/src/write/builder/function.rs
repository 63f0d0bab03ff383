//! A function to be written, and its rows.

use alloc::vec::Vec;

use super::encode::{encode_default, encode_flexible};
use crate::abi::Abi;
use crate::section::{FreType, FunctionInfo, FunctionInfo2, Version};
use crate::unwind::Frame;
use crate::write::stored::{StoredFunction, StoredRow};

/// A function to be written.
#[derive(Clone, Debug)]
pub struct FunctionBuilder {
    start: u64,
    size: u32,
    rows: Vec<Row>,
    repeat: Option<u8>,
    signal: bool,
    pauth_key_b: bool,
    flexible: bool,
    overrides: FunctionOverrides,
}

/// Fields of the [`StoredFunction`] that are set explicitly instead of computed.
#[derive(Clone, Debug, Default)]
pub struct FunctionOverrides {
    /// The stored start field.
    pub start_field: Option<i64>,
    /// The offset in bytes from the start of the FRE sub-section to the function's rows.
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
    /// The width of the rows' start fields. Starts that do not fit are truncated.
    pub fre_type: Option<FreType>,
}

/// A row to be written.
#[derive(Clone, Debug)]
enum Row {
    /// A frame, for which the builder chooses the smallest encoding.
    Frame {
        /// The offset in bytes from the function's start.
        start: u32,
        /// The frame that is valid from there on.
        frame: Frame,
    },
    /// A row as it is stored.
    Stored(StoredRow),
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

    /// Whether the version can express the function's properties.
    pub(super) fn fits(&self, version: Version) -> bool {
        let signal = self.signal && version < Version::V3;
        let repeat = self.repeat.is_some_and(|size| size > 0) && version == Version::V1;
        !signal && !repeat
    }

    /// Adds a row that is valid from `start` bytes after the function's start.
    #[must_use]
    pub fn row(mut self, start: u32, frame: Frame) -> FunctionBuilder {
        self.rows.push(Row::Frame { start, frame });
        self
    }

    /// Adds a row with the given info byte and bytes of data words.
    #[must_use]
    pub fn raw_row(mut self, start: u32, info: u8, words: &[u8]) -> FunctionBuilder {
        self.rows.push(Row::Stored(StoredRow::raw(start, info, words)));
        self
    }

    /// Marks the rows as those of a block of `size` bytes that repeats.
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

    /// Marks return addresses as signed with the B key (AArch64).
    #[must_use]
    pub const fn pauth_key_b(mut self) -> FunctionBuilder {
        self.pauth_key_b = true;
        self
    }

    /// Writes flexible rows even if default rows would suffice (version 3).
    #[must_use]
    pub const fn flexible(mut self) -> FunctionBuilder {
        self.flexible = true;
        self
    }

    /// Sets fields to values other than the right ones.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut FunctionOverrides)) -> FunctionBuilder {
        change(&mut self.overrides);
        self
    }
}

impl Row {
    const fn start(&self) -> u32 {
        match self {
            Row::Frame { start, .. } | Row::Stored(StoredRow { start, .. }) => *start,
        }
    }
}

impl FunctionBuilder {
    /// The function as it is stored. The error is the index of the row that has no encoding.
    pub(super) fn stored(
        &self,
        version: Version,
        abi: Abi,
        relocatable: bool,
    ) -> Result<StoredFunction, usize> {
        let (flexible, rows) = self.stored_rows(version, abi)?;
        let o = &self.overrides;
        let last = self.rows.iter().map(Row::start).max().unwrap_or(0);
        let fre_type = o.fre_type.unwrap_or(FreType::for_start(last));
        let bits = [
            (self.repeat.is_some(), FunctionInfo::PC_MASK),
            (self.pauth_key_b, FunctionInfo::PAUTH_KEY_B),
            (self.signal, FunctionInfo::SIGNAL),
        ];
        let set = bits.iter().filter(|(set, _)| *set);
        let info = set.fold(fre_type.code(), |info, (_, bit)| info | bit);
        let info2 = if flexible { FunctionInfo2::FLEX } else { FunctionInfo2::DEFAULT };
        Ok(StoredFunction {
            start_field: o.start_field.or(relocatable.then_some(0)),
            fre_offset: o.fre_offset,
            num_fres: o.num_fres,
            info: o.info.unwrap_or(info),
            info2: o.info2.unwrap_or(info2),
            rep_size: o.rep_size.or(self.repeat).unwrap_or(0),
            padding: o.padding.unwrap_or(0),
            fre_type,
            rows,
            ..StoredFunction::new(self.start, self.size)
        })
    }

    /// Encodes all rows as default rows, or else all as flexible ones.
    fn stored_rows(&self, version: Version, abi: Abi) -> Result<(bool, Vec<StoredRow>), usize> {
        let all = |flexible: bool| {
            let rows = self.rows.iter().enumerate();
            let stored =
                |(number, row): (usize, &Row)| row.stored(version, abi, flexible).ok_or(number);
            rows.map(stored).collect::<Result<Vec<_>, _>>()
        };
        let default = if self.flexible { Err(0) } else { all(false) };
        match default {
            Ok(rows) => Ok((false, rows)),
            Err(row) if version < Version::V3 => Err(row),
            Err(_) => all(true).map(|rows| (true, rows)),
        }
    }
}

impl Row {
    fn stored(&self, version: Version, abi: Abi, flexible: bool) -> Option<StoredRow> {
        match self {
            Row::Stored(row) => Some(row.clone()),
            Row::Frame { start, frame } => {
                let encode = if flexible { encode_flexible } else { encode_default };
                encode(version, abi, *start, frame)
            }
        }
    }
}
