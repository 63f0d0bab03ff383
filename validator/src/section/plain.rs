//! A fast path for readers of whole sections, in which nearly all rows are plain.

use super::bytes::Bytes;
use super::function::Function;
use super::interpret::{DefaultWords, RowLayout};
use super::row::{FreType, ShortRow};
use super::rows::RowBudget;
use crate::unwind::Frame;

/// The plain rows of one function: default rows with at most 8 bytes of data words, not among the last bytes of the
/// sub-section, and within a budget.
///
/// Iteration ends at the first row that is not plain. The caller then reads the function's [`Rows`](super::Rows)
/// instead. These give the same frames for plain rows, but keep more state.
#[derive(Clone, Debug)]
pub struct PlainRows<'a> {
    /// The bytes from the next row on, as far as the budget allows.
    rest: Bytes<'a>,
    /// The number of these bytes before the first row was read.
    length: usize,
    remaining: u32,
    fre_type: FreType,
    words: DefaultWords,
}

/// A plain row, as it is stored.
#[derive(Clone, Copy, Debug)]
pub struct PlainRow<'a>(ShortRow<'a>);

impl PlainRow<'_> {
    /// The offset in bytes from the function's start.
    #[inline]
    #[must_use]
    pub const fn start(&self) -> u32 {
        self.0.start
    }
}

impl<'a> Function<'a> {
    /// The function's plain rows; `None` for flexible rows, repeated blocks, and codes that no version defines. The
    /// budget is not reduced until they are [spent](PlainRows::spend).
    #[inline]
    #[must_use]
    pub fn plain_rows(&self, budget: &RowBudget) -> Option<PlainRows<'a>> {
        let fre_type = self.fre_type().ok()?;
        let layout = RowLayout::of(self).ok()?;
        if layout.flexible || self.attributes().info.is_pc_mask() {
            return None;
        }
        let first = self.first_row_offset().saturating_sub(self.section().header().fre_start());
        let rows = self.section().fre_bytes();
        let rest = rows.clipped(first, first.saturating_add(budget.bytes));
        Some(PlainRows {
            rest: Bytes { data: rest, ..rows },
            length: rest.len(),
            remaining: self.num_rows(),
            fre_type,
            words: DefaultWords::of(&layout),
        })
    }
}

impl<'a> PlainRows<'a> {
    /// The next row; `None` if it is not plain, or all have been read.
    // This is part of the caller's loop, and inlining keeps all of it in registers.
    #[inline(always)]
    pub fn next_row(&mut self) -> Option<PlainRow<'a>> {
        let left = self.remaining.checked_sub(1)?;
        let row = ShortRow::read(self.rest.data.first_chunk()?, self.fre_type, self.rest.endian)?;
        self.rest.data = self.rest.data.get(row.size..)?;
        self.remaining = left;
        Some(PlainRow(row))
    }

    /// The frame that a row describes; `None` if it has no words, or too many.
    #[inline(always)]
    pub fn frame(&self, row: &PlainRow<'_>) -> Option<Frame> {
        self.words.frame(row.0.info, row.0.signed())
    }

    /// Whether all rows have been read.
    #[must_use]
    pub const fn are_over(&self) -> bool {
        self.remaining == 0
    }

    /// Takes the bytes that have been read from the budget.
    pub const fn spend(&self, budget: &mut RowBudget) {
        budget.bytes = budget.bytes.saturating_sub((self.length - self.rest.data.len()) as u64);
    }
}
