//! Removes the rows of a function that say nothing.

use sframe_validator::section::FdeType;
use sframe_validator::write::{StoredFunction, StoredRow};

/// Removes rows that repeat the row before them, that another row with the same start replaces, or that start at or after
/// the function's end. Returns how many. Rows that are not in order stay as they are, because readers disagree about
/// them.
pub(crate) fn tidy(function: &mut StoredFunction) -> usize {
    if !function.rows.is_sorted_by_key(|row| row.start) {
        return 0;
    }
    let (before, end, fde_type) = (function.rows.len(), function.length(), function.fde_type());
    let mut kept: Vec<StoredRow> = Vec::new();
    for row in function.rows.drain(..) {
        if !kept.is_empty() && end > 0 && row.start >= end {
            continue;
        }
        // The last of several rows with the same start is valid.
        if kept.last().is_some_and(|last| last.start == row.start) {
            kept.pop();
        }
        if !kept.last().is_some_and(|last| are_equal(last, &row, fde_type)) {
            kept.push(row);
        }
    }
    function.rows = kept;
    before - function.rows.len()
}

/// Whether two rows have the same values, possibly in words of different sizes.
fn are_equal(first: &StoredRow, second: &StoredRow, fde_type: FdeType) -> bool {
    let words = first.words.len();
    let marks = |row: &StoredRow| (row.base_sp, row.mangled, row.words.len());
    if marks(first) != marks(second) {
        return false;
    }
    match fde_type {
        FdeType::Flex => first.width == second.width && first.words == second.words,
        FdeType::Default => (0..words).all(|word| first.signed(word) == second.signed(word)),
    }
}
