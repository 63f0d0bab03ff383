//! Rows in the shared vocabulary: ranges of PCs with what holds there.

use super::error::{Error, ErrorKind};
use super::function::Function;
use super::interpret::{DefaultWords, RowLayout};
use super::row::FrameRowEntry;
use super::stored_rows::FrameRowEntries;
use crate::unwind::{Frame, Row};

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
        if self.take(row.size()) {
            Ok(())
        } else {
            Err(Error::new(row.offset, "sframe_frame_row_entry", ErrorKind::SharedRows))
        }
    }

    /// Takes bytes from the budget, if it has as many.
    #[inline]
    fn take(&mut self, bytes: u64) -> bool {
        let rest = self.bytes.checked_sub(bytes);
        self.bytes = rest.unwrap_or(self.bytes);
        rest.is_some()
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
    /// `None` for flexible rows.
    words: Option<DefaultWords>,
    base: u64,
    length: u32,
    budget: Option<&'b mut RowBudget>,
    /// The row given last.
    row: Row,
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
    #[inline]
    fn new(
        function: &Function<'a>,
        budget: Option<&'b mut RowBudget>,
    ) -> Result<Rows<'a, 'b>, Error> {
        let entries = function.frame_row_entries()?;
        let layout = RowLayout::of(function)?;
        let base = function.start()?.address;
        Ok(Rows {
            entries,
            layout,
            words: default_words(&layout),
            base,
            length: row_space(function),
            budget,
            row: Row { start: base, end: base, frame: Frame::OUTERMOST },
        })
    }

    /// The next row, where it stands: the iterator without its copies. `None` behind the last one.
    ///
    /// # Errors
    /// Those of the iterator's items: behind a row without a meaning there may be others.
    // Part of the caller's loop, it takes a tenth less time.
    #[inline(always)]
    pub fn next_row(&mut self) -> Result<Option<&Row>, Error> {
        if let Some(short) = self.entries.short()
            && let Some(words) = &self.words
            && let Some(frame) = words.frame(short.info, short.signed())
            && self.budget.as_deref_mut().is_none_or(|budget| budget.take(short.size as u64))
        {
            self.entries.pass(&short);
            self.place(short.start, frame);
            return Ok(Some(&self.row));
        }
        self.next_of_any_kind()
    }

    /// The next row: flexible, long, at the sub-section's end, without a meaning, or none.
    #[cold]
    #[inline(never)]
    fn next_of_any_kind(&mut self) -> Result<Option<&Row>, Error> {
        let Some(entry) = self.entries.next() else { return Ok(None) };
        let entry = entry?;
        if let Some(budget) = self.budget.as_deref_mut()
            && let Err(error) = budget.charge(&entry)
        {
            self.entries.end();
            return Err(error);
        }
        let frame = self.layout.interpret(&entry)?;
        self.place(entry.start, frame);
        Ok(Some(&self.row))
    }

    /// Makes the row, given what it says. The next row has not been read yet.
    #[inline]
    fn place(&mut self, start: u32, frame: Frame) {
        let bound = self.entries.peek_start().map_or(self.length, |next| next.min(self.length));
        let end = bound.max(start);
        self.row.start = self.base.saturating_add(u64::from(start));
        self.row.end = self.base.saturating_add(u64::from(end));
        self.row.frame = frame;
    }
}

#[inline]
fn default_words(layout: &RowLayout) -> Option<DefaultWords> {
    (!layout.flexible).then(|| DefaultWords::of(layout))
}

/// Bytes of code that the rows of a function or of its repeated block can be about.
fn row_space(function: &Function<'_>) -> u32 {
    match function.repeat_size() {
        Ok(Some(block)) => function.size().min(u32::from(block)),
        Ok(None) | Err(_) => function.size(),
    }
}

impl Iterator for Rows<'_, '_> {
    type Item = Result<Row, Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.next_row().map(|row| row.copied()).transpose()
    }
}
