//! The functions of SFrame sections in the order of their addresses.

use core::ops::ControlFlow;

use sframe_validator::section::{CodeAddress, ErrorKind, Function, RowBudget, Rows};
use sframe_validator::unwind::Row;
use sframe_validator::{Section, Version};

use super::reading::{Evidence, Reading, Span, choose, repeat};
use super::unplaced::Unplaced;

/// A function that has a place and bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) start: CodeAddress,
    pub(crate) size: u32,
    /// Index of the section among those compared, and of the function in it.
    pub(crate) section: u32,
    pub(crate) index: u32,
}

/// The places of all functions of all sections, ordered by address, then by size, and the functions
/// without a place.
pub(crate) fn places(sections: &[Section<'_>]) -> (Vec<Place>, Unplaced) {
    let mut places = Vec::new();
    let mut unplaced = Unplaced::default();
    for (number, section) in (0_u32..).zip(sections) {
        places.reserve(usize::try_from(section.entry_count()).unwrap_or_default());
        for entry in section.entries() {
            match entry.start() {
                Ok(_) if entry.size() == 0 => {}
                Ok(start) => places.push(Place {
                    start,
                    size: entry.size(),
                    section: number,
                    index: entry.index(),
                }),
                Err(error) => {
                    unplaced.add(entry.size(), error.kind == ErrorKind::Discarded);
                }
            }
        }
    }
    let key = |place: &Place| (place.start, place.size);
    if !places.is_sorted_by_key(key) {
        places.sort_by_key(key);
    }
    unplaced.sort();
    (places, unplaced)
}

/// What a function says about a range: a row, or that it cannot be read.
pub(crate) type Piece<'r> = Option<&'r Row>;

/// What walking over all functions uses up.
#[derive(Debug)]
pub(crate) struct Budget {
    /// The rows of a repeated block: at most one for each byte of it.
    block: Vec<Row>,
    /// Repetitions of blocks that may still be read: as many as the file has bytes. Code that is
    /// there has fewer, code that is only promised would have billions.
    repetitions: u64,
}

impl Budget {
    pub(crate) fn of(file_size: u64) -> Budget {
        Budget { block: Vec::new(), repetitions: file_size }
    }
}

/// Hands `sink` the rows of a function up to `limit`, in order and without overlaps, and `None` for
/// what cannot be read. What no row describes is left out. `sink` gets start and end of each. Where
/// rows repeat after a number of bytes that version 1 does not record, `evidence` refutes readings.
pub(crate) fn walk(
    function: &Function<'_>,
    limit: u64,
    rows: &mut RowBudget,
    budget: &mut Budget,
    evidence: impl FnMut(u64, &Row) -> Evidence,
    mut sink: impl FnMut(u64, u64, Piece<'_>),
) {
    let Ok(start) = function.start() else { return };
    let (start, size) = (start.address, u64::from(function.size()));
    let end = start.saturating_add(size).min(limit);
    let recorded = match function.repeat_size() {
        Ok(None) => return plain(function, start, end, rows, sink),
        Ok(Some(block)) => Some(Reading { block: block.into(), phase: 0 }),
        Err(_) if function.section().header().version == Version::V1 => None,
        // A block without bytes: which row holds where is not known.
        Err(_) => return sink(start, end, None),
    };
    budget.block.clear();
    let mut readable = true;
    let first = start.saturating_add(recorded.map_or(size, |reading| reading.block));
    plain(function, start, first, rows, |from, to, row| match row {
        Some(row) => budget.block.push(Row { start: from, end: to, ..*row }),
        None => readable = false,
    });
    let span = Span { start, size, end };
    let Budget { block, repetitions } = budget;
    let reading = recorded.or_else(|| choose(block, span, repetitions, evidence));
    match reading.filter(|_| readable) {
        Some(reading) => {
            let _ = repeat(block, reading, span, repetitions, &mut |from, to, row| {
                sink(from, to, row);
                ControlFlow::Continue(())
            });
        }
        None => sink(start, end, None),
    }
}

/// The rows as they are stored, one block or the whole function.
fn plain(
    function: &Function<'_>,
    start: u64,
    end: u64,
    budget: &mut RowBudget,
    mut sink: impl FnMut(u64, u64, Piece<'_>),
) {
    let mut rows = match function.rows_within(budget) {
        Ok(rows) => rows,
        Err(_) => return tell(&mut sink, start, end, None),
    };
    // Up to where everything has been told, and whether something unreadable is pending there.
    let (mut at, mut unreadable) = (start, false);
    let mut left = function.num_rows();
    // A reader stops at the first row that starts behind the PC, so a row out of order holds only
    // from the latest start before it on.
    let mut latest = start;
    loop {
        let row = match rows.next_row() {
            Ok(Some(row)) => row,
            Ok(None) => break,
            Err(_) => {
                unreadable = true;
                continue;
            }
        };
        left = left.saturating_sub(1);
        latest = latest.max(row.start);
        let from = latest;
        let to = row.end.min(end);
        if from >= to {
            continue;
        }
        if unreadable && at < from {
            tell(&mut sink, at, from, None);
        }
        if to == end && left > 0 {
            // A row reaches as far as the next one lets it. If that has no readable start, the end
            // is not known; if it has one, it is behind all that is asked for.
            let row = *row;
            let known = end_is_known(&mut rows);
            return tell(&mut sink, from, to, known.then_some(&row));
        }
        sink(from, to, Some(row));
        if to == end {
            return;
        }
        (at, unreadable) = (to, false);
    }
    if unreadable && at < end {
        tell(&mut sink, at, end, None);
    }
}

/// Hands over what comes by now and then: `sink` is part of the loop above, and large.
#[cold]
#[inline(never)]
fn tell(sink: &mut impl FnMut(u64, u64, Piece<'_>), from: u64, to: u64, piece: Piece<'_>) {
    sink(from, to, piece);
}

#[cold]
#[inline(never)]
fn end_is_known(rows: &mut Rows<'_, '_>) -> bool {
    rows.next_row().is_ok()
}
