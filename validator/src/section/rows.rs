//! Rows in the shared vocabulary: ranges of PCs and the frames that are valid there.

use super::error::{Error, ErrorKind};
use super::function::Function;
use super::interpret::{DefaultWords, RowLayout};
use super::row::FrameRowEntry;
use super::stored_rows::FrameRowEntries;
use crate::unwind::{Frame, Row};

/// How many bytes of rows a walk over a whole section may still read.
///
/// The rows of a well-formed section do not overlap, so together they are no longer than the FRE sub-section. With a
/// budget, a walk takes linear time in the section's bytes even if thousands of functions point at the same block of
/// rows.
#[derive(Clone, Debug)]
pub struct RowBudget {
    pub(super) bytes: u64,
}

impl RowBudget {
    /// Takes a row's bytes from the budget.
    ///
    /// # Errors
    /// [`ErrorKind::SharedRows`] if more bytes of rows were read than the sub-section contains.
    #[inline]
    pub fn charge(&mut self, row: &FrameRowEntry<'_>) -> Result<(), Error> {
        if self.take(row.size()) {
            Ok(())
        } else {
            Err(Error::new(row.offset, "sframe_frame_row_entry", ErrorKind::SharedRows))
        }
    }

    /// The number of bytes that may still be read.
    #[must_use]
    pub const fn left(&self) -> u64 {
        self.bytes
    }

    /// Takes bytes from the budget, if enough are left. Returns false, and takes nothing, if not.
    #[inline]
    pub fn take(&mut self, bytes: u64) -> bool {
        let rest = self.bytes.checked_sub(bytes);
        self.bytes = rest.unwrap_or(self.bytes);
        rest.is_some()
    }
}

/// The rows of one function as ranges of PCs, in stored order.
///
/// A row ends at the start of the next row, even if that row is unreadable, or at the end of the function. A row that
/// starts at or after its end is empty. The rows of a repeated block ([`Function::repeat_size`]) are those of the first
/// block. They are also valid in each other block up to the function's end.
#[derive(Debug)]
pub struct Rows<'a, 'b> {
    entries: FrameRowEntries<'a>,
    layout: RowLayout,
    /// `None` for flexible rows.
    words: Option<DefaultWords>,
    base: u64,
    length: u32,
    budget: Option<&'b mut RowBudget>,
    /// The row returned last.
    row: Row,
}

impl<'a> Function<'a> {
    /// The function's rows.
    ///
    /// Use this for a single function. A walk over all functions of an untrusted section should use a budget:
    /// [`Function::rows_within`].
    ///
    /// # Errors
    /// Those of [`FunctionEntry::start`](super::FunctionEntry::start), [`Function::fre_type`] and [`RowLayout::of`].
    /// The iterator yields an error for each row that has no meaning, and ends after a row whose length is unknown.
    pub fn rows(&self) -> Result<Rows<'a, 'static>, Error> {
        Rows::new(self, None)
    }

    /// The function's rows, as long as the budget lasts.
    ///
    /// # Errors
    /// As for [`Function::rows`]. In addition, the iterator yields [`ErrorKind::SharedRows`] and ends when the
    /// budget is used up.
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

    /// The next row, by reference: like the iterator, but without copies. `None` after the last row.
    ///
    /// # Errors
    /// As for the iterator's items. More rows may follow a row without a meaning.
    // This is part of the caller's loop, which takes a tenth less time with it inlined.
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

    /// The next row if it is not a plain one that can be read fast: one that is flexible, long, at the sub-section's
    /// end or without a meaning, or no row.
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

    /// Sets the row to a frame. The following row has not been read yet.
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

/// The number of bytes of code to which the rows of a function or of its repeated block can apply.
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
