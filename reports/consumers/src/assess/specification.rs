//! The specification's rows, by the validator's reader.

use sframe_validator::section::{Function, RowBudget};
use sframe_validator::unwind::{Frame, Row};
use sframe_validator::{ErrorKind, Placement, Section};

use crate::input::Input;

/// How many rows of repeated blocks are listed, at most, for each byte of the section.
const BLOCKS_PER_BYTE: usize = 16;

/// A range of PCs with one row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) function: u32,
    pub(super) frame: Frame,
}

/// The ranges of all functions, ordered by address. They do not overlap.
#[derive(Debug, Default)]
pub(super) struct Specification {
    ranges: Vec<Range>,
    /// The addresses of the functions that have rows, by index.
    starts: Vec<(u32, u64)>,
    /// Why rows are left out, if some are.
    pub(super) limit: Option<&'static str>,
}

/// The ranges of functions in stored order, and what is left of the limits.
struct Collected {
    ranges: Vec<Range>,
    budget: RowBudget,
    blocks: usize,
    limit: Option<&'static str>,
}

/// Rows beyond the reader's budget are left out.
const SHARED: &str = "too many functions share rows to compare them all";
/// Repeated blocks beyond [`BLOCKS_PER_BYTE`] are left out.
const REPEATED: &str = "too many blocks repeat to compare them all";

impl Specification {
    pub(super) fn of(input: &Input<'_>) -> Specification {
        let placement = Placement::at(input.address).with_abi(Some(input.machine));
        let Ok(section) = Section::parse(input.bytes, placement) else {
            return Specification::default();
        };
        let mut collected = Collected {
            ranges: Vec::new(),
            budget: section.row_budget(),
            blocks: input.bytes.len().saturating_mul(BLOCKS_PER_BYTE),
            limit: None,
        };
        for function in section.functions().flatten() {
            collected.add(&function);
        }
        let limit = collected.limit;
        Specification { limit, ..Specification::without_overlaps(collected.ranges) }
    }

    /// Of two rows for one PC, the one that starts later is kept, as a search by address finds it.
    fn without_overlaps(mut found: Vec<Range>) -> Specification {
        found.retain(|range| range.start < range.end);
        found.sort_by_key(|range| range.start);
        let next: Vec<u64> = found.iter().skip(1).map(|range| range.start).collect();
        for (range, next) in found.iter_mut().zip(next) {
            range.end = range.end.min(next);
        }
        found.retain(|range| range.start < range.end);
        let mut starts: Vec<(u32, u64)> =
            found.iter().map(|range| (range.function, range.start)).collect();
        starts.sort_unstable();
        starts.dedup_by_key(|(function, _)| *function);
        Specification { ranges: found, starts, limit: None }
    }

    /// The number of bytes with a row.
    pub(super) fn covered(&self) -> u64 {
        let sizes = self.ranges.iter().map(|range| range.end - range.start);
        sizes.fold(0, u64::saturating_add)
    }

    pub(super) fn boundaries(&self) -> Vec<u64> {
        // The ranges are ordered and do not overlap.
        self.ranges.iter().flat_map(|range| [range.start, range.end]).collect()
    }

    /// The range that contains a PC.
    pub(super) fn row(&self, pc: u64) -> Option<Range> {
        let after = self.ranges.partition_point(|range| range.start <= pc);
        let range = self.ranges.get(after.checked_sub(1)?)?;
        (pc < range.end).then_some(*range)
    }

    /// The functions that have rows, in the order of the table, with the addresses of their first rows.
    pub(super) fn functions(&self) -> &[(u32, u64)] {
        &self.starts
    }
}

impl Collected {
    fn add(&mut self, function: &Function<'_>) {
        let (Ok(start), Ok(block)) = (function.start(), function.repeat_size()) else { return };
        let (start, size) = (start.address, u64::from(function.size()));
        let end = start.saturating_add(size);
        let index = function.index();
        if function.is_outermost() {
            self.ranges.push(Range { start, end, function: index, frame: Frame::OUTERMOST });
            return;
        }
        let rows = self.rows(function);
        let length = block.map_or(size.max(1), u64::from);
        let mut place = 0;
        while place < size {
            if block.is_some() {
                let Some(rest) = self.blocks.checked_sub(rows.len().max(1)) else {
                    self.limit = Some(REPEATED);
                    return;
                };
                self.blocks = rest;
            }
            self.ranges.extend(rows.iter().map(|row| Range {
                start: row.start.saturating_add(place).min(end),
                end: row.end.saturating_add(place).min(end),
                function: index,
                frame: row.frame,
            }));
            place = place.saturating_add(length);
        }
    }

    /// The rows that are not empty.
    fn rows(&mut self, function: &Function<'_>) -> Vec<Row> {
        let mut found = Vec::new();
        let Ok(rows) = function.rows_within(&mut self.budget) else { return found };
        for row in rows {
            match row {
                Ok(row) if row.start < row.end => found.push(row),
                Ok(_) => {}
                Err(error) if error.kind == ErrorKind::SharedRows => self.limit = Some(SHARED),
                Err(_) => {}
            }
        }
        found
    }
}
