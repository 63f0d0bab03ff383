//! Estimates for designers of the next version of the format: what a section would save if the format had other fields.
//!
//! Each change is estimated alone, for the section as it is. Estimates of files can be added.

use core::ops::Add;
use std::collections::{BTreeMap, BTreeSet};

use sframe_validator::Version;
use sframe_validator::section::{Error, Section};

use crate::account::account_of;

/// The number of functions for which there is one full entry, so that readers can search the index.
const FUNCTIONS_OF_ANCHOR: u64 = 64;
/// The bytes of such an entry: a start of 8 bytes, and an offset in the index of 4 bytes.
const ANCHOR: u64 = 12;

/// The bytes of a part of a section, as it is and after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Change {
    /// The bytes as they are.
    pub before: u64,
    /// The bytes after the change.
    pub after: u64,
}

impl Change {
    /// The bytes that the change saves; negative if it costs more.
    #[must_use]
    pub const fn saved(self) -> i64 {
        self.before.cast_signed().saturating_sub(self.after.cast_signed())
    }
}

impl Add for Change {
    type Output = Change;

    fn add(self, other: Change) -> Change {
        let sum = |a: u64, b: u64| a.saturating_add(b);
        Change { before: sum(self.before, other.before), after: sum(self.after, other.after) }
    }
}

/// Estimates for one section, or the sum for several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct WhatIf {
    /// The number of sections.
    pub sections: u64,
    /// The bytes of the sections.
    pub size: u64,
    /// Attributes and rows: functions with equal ones share them.
    pub shared_blocks: Change,
    /// Start fields of the index: each is the distance to the start before, in the order of addresses, as ULEB128. Every
    /// 64 functions, an entry of 12 bytes makes the index searchable.
    pub delta_function_starts: Change,
    /// Sizes of functions, as ULEB128.
    pub varint_sizes: Change,
    /// Start fields of rows: each is the distance to the start before, as ULEB128.
    pub delta_row_starts: Change,
    /// Info bytes: each is an index into a table of those that the section has, with as many bits as the table needs.
    pub info_dictionary: Change,
    /// Info bytes and data words: each row has the ULEB128 index of its frame in a table that stores every frame once.
    /// Frequent frames come first.
    pub frame_dictionary: Change,
    /// The info bytes and block sizes in attributes of version 3: each is one byte, the index into a table.
    pub attribute_dictionary: Change,
}

impl WhatIf {
    /// The changes, with names for people.
    #[must_use]
    pub const fn changes(&self) -> [(&'static str, Change); 7] {
        [
            ("shared row blocks", self.shared_blocks),
            ("delta-coded function starts", self.delta_function_starts),
            ("variable-length function sizes", self.varint_sizes),
            ("delta-coded row starts", self.delta_row_starts),
            ("dictionary of info bytes", self.info_dictionary),
            ("dictionary of frames", self.frame_dictionary),
            ("dictionary of attributes", self.attribute_dictionary),
        ]
    }
}

impl Add for WhatIf {
    type Output = WhatIf;

    fn add(self, other: WhatIf) -> WhatIf {
        WhatIf {
            sections: self.sections.saturating_add(other.sections),
            size: self.size.saturating_add(other.size),
            shared_blocks: self.shared_blocks + other.shared_blocks,
            delta_function_starts: self.delta_function_starts + other.delta_function_starts,
            varint_sizes: self.varint_sizes + other.varint_sizes,
            delta_row_starts: self.delta_row_starts + other.delta_row_starts,
            info_dictionary: self.info_dictionary + other.info_dictionary,
            frame_dictionary: self.frame_dictionary + other.frame_dictionary,
            attribute_dictionary: self.attribute_dictionary + other.attribute_dictionary,
        }
    }
}

/// Estimates what changes of the format would save in a section.
///
/// # Errors
/// The [`Error`] of the first function or row that cannot be read.
pub fn what_if(section: &Section<'_>) -> Result<WhatIf, Error> {
    let account = account_of(section)?;
    let parts = account.parts;
    let rows = parts.attributes + parts.row_starts + parts.row_info + parts.data_words;
    let mut estimate = WhatIf { sections: 1, size: account.size, ..WhatIf::default() };
    estimate.shared_blocks = Change { before: rows, after: rows.saturating_sub(account.shareable) };
    index(section, &mut estimate)?;
    Rows::default().read(section, &mut estimate)?;
    Ok(estimate)
}

/// Estimates the changes of the function index.
fn index(section: &Section<'_>, estimate: &mut WhatIf) -> Result<(), Error> {
    let mut starts = Vec::new();
    let mut kinds = BTreeSet::new();
    for function in section.functions() {
        let function = function?;
        starts.push(function.start()?);
        estimate.varint_sizes.before += 4;
        estimate.varint_sizes.after += uleb128(function.size().into());
        let attributes = function.attributes();
        kinds.insert((attributes.info.0, attributes.info2.0, attributes.rep_size));
    }
    starts.sort_unstable();
    let functions = starts.len() as u64;
    let header = section.header();
    let mut before = 0;
    let mut after = functions.div_ceil(FUNCTIONS_OF_ANCHOR) * ANCHOR;
    for start in starts {
        // Sections of an object follow each other as if they were linked.
        after += uleb128(start.address.checked_sub(before).unwrap_or(start.address));
        before = start.address;
    }
    let width = if header.version == Version::V3 { 8 } else { 4 };
    estimate.delta_function_starts = Change { before: functions * width, after };
    if header.version.attribute_size() > 0 {
        let table = 3 * kinds.len() as u64;
        let width = if kinds.len() > 0x100 { 2 } else { 1 };
        estimate.attribute_dictionary =
            Change { before: functions * 3, after: functions * width + table };
    }
    Ok(())
}

/// The rows of a section.
#[derive(Default)]
struct Rows<'a> {
    /// The blocks that were read. Those that several functions share count once.
    blocks: BTreeSet<u64>,
    /// How many rows have an info byte with these words.
    frames: BTreeMap<(u8, &'a [u8]), u64>,
    rows: u64,
    words: u64,
}

impl<'a> Rows<'a> {
    fn read(mut self, section: &'a Section<'a>, estimate: &mut WhatIf) -> Result<(), Error> {
        let mut budget = section.row_budget();
        let starts = &mut estimate.delta_row_starts;
        for function in section.functions() {
            let function = function?;
            if function.num_rows() > 0 && !self.blocks.insert(function.entry().rows_offset()) {
                continue;
            }
            let mut before = 0;
            for row in function.frame_row_entries()? {
                let row = row?;
                budget.charge(&row)?;
                starts.before += row.fre_type.width() as u64;
                starts.after += uleb128(row.start.saturating_sub(before).into());
                before = row.start;
                let words = row.words.bytes();
                *self.frames.entry((row.info.0, words)).or_default() += 1;
                self.rows += 1;
                self.words += words.len() as u64;
            }
        }
        estimate.info_dictionary = self.info_dictionary();
        estimate.frame_dictionary = self.frame_dictionary();
        Ok(())
    }

    fn info_dictionary(&self) -> Change {
        let table = self.frames.keys().map(|(info, _)| info).collect::<BTreeSet<_>>().len() as u64;
        // At most 256 values.
        let bits = u64::from(table.next_power_of_two().trailing_zeros());
        Change { before: self.rows, after: table + (self.rows * bits).div_ceil(8) }
    }

    fn frame_dictionary(&self) -> Change {
        let table: u64 = self.frames.keys().map(|(_, words)| 1 + words.len() as u64).sum();
        let mut counts: Vec<u64> = self.frames.values().copied().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let indexes = (0..).zip(counts).map(|(index, count)| uleb128(index) * count);
        Change { before: self.rows + self.words, after: table + indexes.sum::<u64>() }
    }
}

/// The bytes of a number as ULEB128.
const fn uleb128(number: u64) -> u64 {
    let bits = 64 - (number | 1).leading_zeros() as u64;
    bits.div_ceil(7)
}
