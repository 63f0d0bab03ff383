//! A function to be written, and its rows.

use alloc::vec::Vec;

use super::encode::{encode_default, encode_flexible};
use crate::abi::Abi;
use crate::section::{FreType, FunctionInfo, FunctionInfo2, Version};
use crate::unwind::Frame;
use crate::write::stored::{StoredFunction, StoredRow};

/// Encodes a frame as a row that starts at an offset.
type Encode = fn(Version, Abi, u32, &Frame) -> Option<StoredRow>;

/// A function to be written.
#[derive(Clone, Debug)]
pub struct FunctionBuilder {
    /// The function without its rows.
    function: StoredFunction,
    rows: Vec<Row>,
    signal: bool,
    flexible: bool,
    fre_type: Option<FreType>,
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
            function: StoredFunction::new(start, size),
            rows: Vec::new(),
            signal: false,
            flexible: false,
            fre_type: None,
        }
    }

    /// Where the function starts.
    #[must_use]
    pub const fn start(&self) -> u64 {
        self.function.start
    }

    /// Whether the version can express the function's properties.
    pub(super) fn fits(&self, version: Version) -> bool {
        let signal = self.signal && version < Version::V3;
        let repeat = self.function.rep_size > 0 && version == Version::V1;
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
        self.function.info |= FunctionInfo::PC_MASK;
        self.function.rep_size = size;
        self
    }

    /// Marks a signal frame (version 3).
    #[must_use]
    pub const fn signal_frame(mut self) -> FunctionBuilder {
        self.function.info |= FunctionInfo::SIGNAL;
        self.signal = true;
        self
    }

    /// Marks return addresses as signed with the B key (AArch64).
    #[must_use]
    pub const fn pauth_key_b(mut self) -> FunctionBuilder {
        self.function.info |= FunctionInfo::PAUTH_KEY_B;
        self
    }

    /// Writes flexible rows even if default rows would suffice (version 3).
    #[must_use]
    pub const fn flexible(mut self) -> FunctionBuilder {
        self.flexible = true;
        self
    }

    /// Sets the width of the rows' start fields instead of the smallest. Starts that do not fit are truncated.
    #[must_use]
    pub const fn fre_type(mut self, fre_type: FreType) -> FunctionBuilder {
        self.fre_type = Some(fre_type);
        self
    }

    /// Changes the function's fields, also to wrong values. In the info bytes, the builder sets the bits for the width
    /// of start fields and for flexible rows in addition.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut StoredFunction)) -> FunctionBuilder {
        change(&mut self.function);
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
    pub(super) fn stored(&self, version: Version, abi: Abi) -> Result<StoredFunction, usize> {
        let (flexible, rows) = self.stored_rows(version, abi)?;
        let last = self.rows.iter().map(Row::start).max().unwrap_or(0);
        let fre_type = self.fre_type.unwrap_or(FreType::for_start(last));
        let mut function = self.function.clone();
        function.fre_type = fre_type;
        function.info |= fre_type.code();
        function.info2 |= if flexible { FunctionInfo2::FLEX } else { FunctionInfo2::DEFAULT };
        function.rows = rows;
        Ok(function)
    }

    /// Encodes all rows as default rows, or else all as flexible ones.
    fn stored_rows(&self, version: Version, abi: Abi) -> Result<(bool, Vec<StoredRow>), usize> {
        let all = |encode: Encode| {
            let stored = |(number, row): (usize, &Row)| match row {
                Row::Stored(row) => Ok(row.clone()),
                Row::Frame { start, frame } => encode(version, abi, *start, frame).ok_or(number),
            };
            self.rows.iter().enumerate().map(stored).collect::<Result<Vec<_>, _>>()
        };
        let default = if self.flexible { Err(0) } else { all(encode_default) };
        match default {
            Ok(rows) => Ok((false, rows)),
            Err(row) if version < Version::V3 => Err(row),
            Err(_) => all(encode_flexible).map(|rows| (true, rows)),
        }
    }
}
