//! The functions of one CFI section in the order of their addresses, and their rows on demand.
use sframe_validator::unwind::{CodeAddress, Row};

use crate::cfi::{Cfi, CfiError, Evaluation, Fde, RowContext, Rows};
use crate::witness::cursor::Cursor;
use crate::witness::{Left, Marks, Shared};

/// How far the current function has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// Not at all.
    Unread,
    /// Up to a row.
    Row,
    /// To the end of its rows, where there may be an error.
    Over,
}

/// One CFI section, read at ascending places.
pub(super) struct Stream<'c, 'x> {
    cfi: &'c Cfi<'c>,
    evaluation: Evaluation<'c, 'x>,
    cursor: Cursor,
    function: Option<Fde<'c>>,
    progress: Progress,
    error: Option<CfiError>,
    marks: Marks,
    shared: Shared,
}

impl<'c, 'x> Stream<'c, 'x> {
    pub(super) fn new(cfi: &'c Cfi<'c>, context: &'x mut RowContext) -> Stream<'c, 'x> {
        Stream {
            cfi,
            evaluation: Evaluation::new(context),
            cursor: Cursor::default(),
            function: None,
            progress: Progress::Unread,
            error: None,
            marks: Marks::default(),
            shared: Shared::Unknown,
        }
    }

    /// Passes over the first functions.
    pub(super) const fn pass(&mut self, functions: usize) {
        self.cursor.pass(functions);
    }

    /// The marks of the current function.
    #[inline]
    pub(super) const fn marks(&self) -> Marks {
        self.marks
    }

    /// The current function, and its row at the address read last, if it is readable.
    #[inline(always)]
    pub(super) fn says(&self) -> Option<(Fde<'c>, Option<&Row>)> {
        let rows = self.evaluation.rows().filter(|_| self.progress == Progress::Row);
        self.function.map(|function| (function, rows.map(Rows::row)))
    }

    /// Notes how much of a piece of the function another witness describes.
    #[inline]
    pub(super) fn note(&mut self, shared: Shared) {
        self.shared = self.shared.with(shared);
    }

    /// Moves to the function that contains `place`, and returns its end. If there is none, returns as an error the
    /// address up to which there is none. Places must ascend.
    #[inline]
    pub(super) fn enter(
        &mut self,
        place: CodeAddress,
        left: &mut impl FnMut(Left<Fde<'c>, CfiError>),
    ) -> Result<u64, u64> {
        if let Some(limit) = self.cursor.limit_at(place) {
            return Ok(limit);
        }
        self.leave(left);
        let cfi = self.cfi;
        let number = self.cursor.enter(place, |number| cfi.nth_range(number))?;
        self.function = cfi.nth_sorted(number);
        self.marks =
            self.function.map_or(Marks::default(), |function| Marks::of_cie(function.cie()));
        self.progress = Progress::Unread;
        self.shared = Shared::Unknown;
        Ok(self.cursor.limit())
    }

    /// Reads the row at `address`, which is in the function, and returns its end.
    #[inline]
    pub(super) fn read(&mut self, address: u64) -> u64 {
        if let Some(function) = self.function.filter(|_| self.progress == Progress::Unread) {
            self.evaluation.start(&function);
            self.step();
        }
        while self.progress == Progress::Row {
            let end = self.evaluation.rows().map_or(u64::MAX, |rows| rows.row().end);
            if end > address {
                return end;
            }
            self.step();
        }
        u64::MAX
    }

    /// Whether the current function starts at `start`, the place entered last, and `test` accepts its instructions. If so,
    /// it counts as read; otherwise nothing of it does. Nothing of it has been read before, because no earlier place is in
    /// it.
    #[inline]
    pub(super) fn all_over(
        &mut self,
        start: CodeAddress,
        test: impl FnOnce(&mut Rows<'c, 'x>) -> bool,
    ) -> bool {
        let here = self.function.filter(|function| function.start() == start);
        let Some(function) = here else { return false };
        let passes = self.evaluation.start(&function).is_some_and(test);
        if passes {
            self.progress = Progress::Over;
        }
        passes
    }

    /// Moves to the next row.
    #[inline]
    fn step(&mut self) {
        self.progress = match self.evaluation.rows_mut().map(Rows::next_row) {
            Some(Ok(Some(_))) => Progress::Row,
            Some(Err(error)) => {
                self.error = Some(error);
                Progress::Over
            }
            Some(Ok(None)) | None => Progress::Over,
        };
    }

    /// Leaves the current function.
    #[inline]
    pub(super) fn leave(&mut self, left: &mut impl FnMut(Left<Fde<'c>, CfiError>)) {
        let Some(function) = self.function.take() else { return };
        // Instructions after the last requested place may be malformed.
        while self.progress == Progress::Row {
            self.step();
        }
        left(Left { function, shared: self.shared, error: self.error.take() });
    }
}
