//! All rows of one function, for a view of them.

use sframe_oracle::cfi::{Fde, RowContext};
use sframe_validator::section::Function;
use sframe_validator::unwind::Row;

/// Rows that may be read for all the views of a file together.
const ROWS: usize = 1 << 20;

/// Reads the rows of a few functions, as long as they are not too many.
#[derive(Debug)]
pub(crate) struct RowReader {
    /// Rows that may still be read.
    left: usize,
}

impl RowReader {
    pub(crate) const fn new() -> RowReader {
        RowReader { left: ROWS }
    }

    /// The function's rows as an unwinder finds them; of a repeated block those of the one that
    /// `pc` is in. `None` where they are too many or cannot be read.
    pub(crate) fn of_function(&mut self, function: &Function<'_>, pc: u64) -> Option<Vec<Row>> {
        let start = function.start().ok()?.address;
        let shift = match function.repeat_size().ok()? {
            Some(block) => pc.checked_sub(start)? / u64::from(block) * u64::from(block),
            None => 0,
        };
        let mut rows = Vec::new();
        for row in function.rows().ok()? {
            let row = row.ok()?;
            let (from, to) = (row.start.checked_add(shift)?, row.end.checked_add(shift)?);
            self.push(&mut rows, Row { start: from, end: to, ..row })?;
        }
        Some(rows)
    }

    /// The rows that CFI gives a function, up to an error: what comes behind it is not known.
    /// `None` where they are too many.
    pub(crate) fn of_cfi(&mut self, fde: &Fde<'_>) -> Option<Vec<Row>> {
        let mut context = RowContext::new(fde.cfi());
        let mut read = fde.rows(&mut context);
        let mut rows = Vec::new();
        while let Ok(Some(row)) = read.next_row() {
            self.push(&mut rows, *row)?;
        }
        Some(rows)
    }

    /// Adds a row, if it has bytes; one that says what the row before it says makes that longer.
    fn push(&mut self, rows: &mut Vec<Row>, row: Row) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        match rows.last_mut() {
            _ if row.start >= row.end => {}
            Some(last) if last.frame == row.frame && last.end == row.start => last.end = row.end,
            // A row out of order holds from where the rows before it have come to.
            Some(last) if row.start < last.end => {}
            _ => rows.push(row),
        }
        Some(())
    }
}
