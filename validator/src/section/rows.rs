//! Rows in the shared vocabulary: ranges of PCs with what holds there.

use super::error::{Error, ErrorKind};
use super::function::Function;
use super::interpret::RowLayout;
use super::row::{FrameRowEntries, FrameRowEntry};
use crate::unwind::Row;

/// How many bytes of rows a walk over a whole section may still read.
///
/// The rows of a well-formed section do not overlap, so all of them together are no longer than
/// the FRE sub-section. Reading within one budget keeps a walk linear in the section's bytes even
/// when thousands of functions point at one block of rows.
#[derive(Clone, Debug)]
pub struct RowBudget {
    pub(super) bytes: u64,
}

impl RowBudget {
    /// Takes a row's bytes from the budget.
    ///
    /// # Errors
    /// [`ErrorKind::SharedRows`]: more bytes of rows were read than the sub-section holds.
    #[inline]
    pub fn charge(&mut self, row: &FrameRowEntry<'_>) -> Result<(), Error> {
        match self.bytes.checked_sub(row.size()) {
            Some(rest) => {
                self.bytes = rest;
                Ok(())
            }
            None => Err(Error::new(row.offset, "sframe_frame_row_entry", ErrorKind::SharedRows)),
        }
    }
}

/// The rows of one function as ranges of PCs, in stored order.
///
/// A row ends where the next one starts, readable or not, or the function ends; a row that starts at or behind that
/// place is empty. The rows of a repeated block ([`Function::repeat_size`]) are those of the first
/// block: they hold again in each block up to the function's end.
#[derive(Debug)]
pub struct Rows<'a, 'b> {
    entries: FrameRowEntries<'a>,
    layout: RowLayout,
    base: u64,
    length: u32,
    budget: Option<&'b mut RowBudget>,
}

impl<'a> Function<'a> {
    /// The function's rows.
    ///
    /// For one function of interest. A walk over all functions of a section that is not trusted
    /// reads within a budget: [`Function::rows_within`].
    ///
    /// # Errors
    /// Those of [`FunctionEntry::start`](super::FunctionEntry::start), [`Function::fre_type`] and
    /// [`RowLayout::of`]. The iterator yields an error for each row that has no meaning, and ends
    /// behind a row whose length is unknown.
    pub fn rows(&self) -> Result<Rows<'a, 'static>, Error> {
        Rows::new(self, None)
    }

    /// The function's rows, as long as the budget lasts.
    ///
    /// # Errors
    /// As [`Function::rows`]; besides, the iterator yields [`ErrorKind::SharedRows`] and ends when
    /// the budget is spent.
    pub fn rows_within<'b>(&self, budget: &'b mut RowBudget) -> Result<Rows<'a, 'b>, Error> {
        Rows::new(self, Some(budget))
    }
}

impl<'a, 'b> Rows<'a, 'b> {
    fn new(
        function: &Function<'a>,
        budget: Option<&'b mut RowBudget>,
    ) -> Result<Rows<'a, 'b>, Error> {
        let entries = function.frame_row_entries()?;
        let layout = RowLayout::of(function)?;
        let length = match function.repeat_size() {
            Ok(Some(block)) => function.size().min(u32::from(block)),
            Ok(None) | Err(_) => function.size(),
        };
        Ok(Rows { entries, layout, base: function.start()?.address, length, budget })
    }
}

impl Iterator for Rows<'_, '_> {
    type Item = Result<Row, Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let entry = match self.entries.next()? {
            Ok(entry) => entry,
            Err(error) => return Some(Err(error)),
        };
        let charged = self.budget.as_deref_mut().map_or(Ok(()), |budget| budget.charge(&entry));
        if let Err(error) = charged {
            self.entries.end();
            return Some(Err(error));
        }
        let bound = self.entries.peek_start().map_or(self.length, |start| start.min(self.length));
        Some(self.layout.interpret(&entry).map(|frame| Row {
            start: self.base.saturating_add(u64::from(entry.start)),
            end: self.base.saturating_add(u64::from(bound.max(entry.start))),
            frame,
        }))
    }
}
