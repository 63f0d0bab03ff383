//! The stored rows of a function as pieces of code, without overlaps.

use sframe_validator::section::{Function, RowBudget};
use sframe_validator::unwind::Row;

/// The statement of a function about a piece of its code.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// The first PC.
    pub(super) start: u64,
    /// The end, exclusive.
    pub(super) end: u64,
    /// The row as stored; `None` if it cannot be read.
    pub(super) row: Option<Row>,
}

/// Appends the pieces of a function, or of its block, from `start` to `end`, in order and without overlaps. Code that
/// no row describes is in no piece.
///
/// No two pieces share a byte of code. Rows with one-byte starts give at most 256 pieces, and a piece takes about 20
/// times the space of a stored row with a longer start, so malicious tables cannot take more memory than that.
pub(super) fn read(
    function: &Function<'_>,
    start: u64,
    end: u64,
    budget: &mut RowBudget,
    pieces: &mut Vec<Piece>,
) {
    let mut add = |start, end, row| pieces.push(Piece { start, end, row });
    let Ok(mut rows) = function.rows_within(budget) else { return add(start, end, None) };
    // The end of the code that has pieces, and whether something unreadable follows.
    let (mut at, mut unreadable) = (start, false);
    // A reader stops at the first row that starts after the PC, so a row out of order is valid only from the latest
    // preceding start on.
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
        latest = latest.max(row.start);
        let from = latest;
        let to = row.end.min(end);
        if from >= to {
            continue;
        }
        if unreadable && at < from {
            add(at, from, None);
        }
        if to == end {
            // A row extends to the start of the next one. If that start cannot be read, the end is unknown; otherwise
            // it is after all requested code, or there is none.
            let row = *row;
            let known = rows.next_row().is_ok();
            return add(from, to, known.then_some(row));
        }
        add(from, to, Some(*row));
        (at, unreadable) = (to, false);
    }
    if unreadable && at < end {
        add(at, end, None);
    }
}
