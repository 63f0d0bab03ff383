//! All rows of one function.

use sframe_oracle::cfi::{Fde, RowContext};
use sframe_validator::section::Function;
use sframe_validator::unwind::Row;

/// The maximum number of rows that are read for all tables of a file together.
const ROWS: usize = 1 << 20;

/// Reads the rows of functions, up to a total number of rows.
#[derive(Debug)]
pub struct RowReader {
    /// The number of rows that may still be read.
    left: usize,
}

impl Default for RowReader {
    fn default() -> RowReader {
        RowReader { left: ROWS }
    }
}

impl RowReader {
    /// The function's rows as an unwinder finds them; for a repeated block, those of the block that contains `pc`.
    /// `None` if there are too many or they cannot be read.
    pub fn of_function(&mut self, function: &Function<'_>, pc: u64) -> Option<Vec<Row>> {
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

    /// The rows of a function according to CFI, up to an error, after which they are unknown. `None` if there are too
    /// many.
    pub fn of_cfi(&mut self, fde: &Fde<'_>) -> Option<Vec<Row>> {
        let mut context = RowContext::new(fde.cfi());
        let mut read = fde.rows(&mut context);
        let mut rows = Vec::new();
        while let Ok(Some(row)) = read.next_row() {
            self.push(&mut rows, *row)?;
        }
        Some(rows)
    }

    /// Adds a row unless it is empty. A row with the same content as the row before it extends that row.
    fn push(&mut self, rows: &mut Vec<Row>, row: Row) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        match rows.last_mut() {
            _ if row.start >= row.end => {}
            Some(last) if last.frame == row.frame && last.end == row.start => last.end = row.end,
            // A row that is out of order starts at the end of the rows before it.
            Some(last) if row.start < last.end => {}
            _ => rows.push(row),
        }
        Some(())
    }
}
