//! The functions of one CFI section in the order of their addresses, and their rows as they are
//! asked for.

use sframe_validator::section::{self, CodeAddress, RowBudget};
use sframe_validator::unwind::{Frame, Row};

use super::agreement::agree_all_over;
use super::sweep::Sink;
use super::verdict::FunctionCounts;
use crate::cfi::{Cfi, CfiError, Evaluation, Fde, RowContext, Rows, same};

/// What holds for a whole function besides its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Marks {
    /// It is a signal frame.
    pub(super) signal: bool,
    /// The B key signs return addresses.
    pub(super) key_b: bool,
}

/// How far the current function has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// Not at all: nobody has asked what it says.
    Unread,
    /// There is a row.
    Row,
    /// There are no more rows, which may have ended with an error.
    Over,
}

/// One CFI section, read by ascending place.
pub(super) struct Stream<'c, 'x> {
    cfi: &'c Cfi<'c>,
    evaluation: Evaluation<'c, 'x>,
    /// The function that is next by address.
    next: usize,
    function: Option<Fde<'c>>,
    /// The section of the function, and where it ends or the one behind it starts.
    section: u32,
    limit: u64,
    progress: Progress,
    error: Option<CfiError>,
    marks: Marks,
    /// Whether SFrame has something where the function is, and whether it has nothing.
    found: bool,
    lost: bool,
}

impl<'c, 'x> Stream<'c, 'x> {
    pub(super) fn new(cfi: &'c Cfi<'c>, context: &'x mut RowContext) -> Stream<'c, 'x> {
        Stream {
            cfi,
            evaluation: Evaluation::new(context),
            next: 0,
            function: None,
            section: 0,
            limit: 0,
            progress: Progress::Unread,
            error: None,
            marks: Marks::default(),
            found: false,
            lost: false,
        }
    }

    /// The function that was located last.
    #[inline]
    pub(super) fn function(&self) -> Option<Fde<'c>> {
        self.function
    }

    /// Whether the function at hand has all of `place` up to `end`, and one row of it says `frame`
    /// there, with the same marks. Where it does not, nothing is known yet.
    #[inline(always)]
    pub(super) fn agrees(
        &mut self,
        place: CodeAddress,
        end: u64,
        frame: &Frame,
        marks: Marks,
    ) -> bool {
        let inside = place.section == self.section && end <= self.limit;
        if !inside || self.progress != Progress::Row || self.marks != marks {
            return false;
        }
        if self.evaluation.rows().is_some_and(|rows| rows.row().end <= place.address) {
            self.step();
        }
        let Some(rows) = self.evaluation.rows().filter(|_| self.progress == Progress::Row) else {
            return false;
        };
        let agrees = rows.row().end >= end && same(&rows.row().frame, frame);
        self.found |= agrees;
        agrees
    }

    /// Whether the function at hand is from `start` to `end`, and has the same marks and says at
    /// each PC the same as `other`. Where it does not, nothing of it counts as read.
    pub(super) fn agrees_all_over(
        &mut self,
        start: CodeAddress,
        end: u64,
        marks: Marks,
        other: &section::Function<'_>,
        budget: &mut RowBudget,
    ) -> bool {
        let unread = self.progress == Progress::Unread && self.marks == marks;
        let Some(function) = self.function.filter(|function| {
            unread
                && self.limit == end
                && function.start() == start
                && start.address.saturating_add(function.size()) == end
        }) else {
            return false;
        };
        let cfi = self.evaluation.start(&function);
        let agrees = cfi.is_some_and(|cfi| agree_all_over(other, budget, cfi, start.address, end));
        if agrees {
            self.progress = Progress::Over;
            self.found = true;
        }
        agrees
    }

    /// Notes whether SFrame describes a piece of the function.
    #[inline]
    pub(super) fn note(&mut self, lost: bool) {
        self.lost |= lost;
        self.found |= !lost;
    }

    /// Goes to the function that has `place`, and tells where that ends; as an error, where there
    /// is none, up to where that holds. Places have to ascend.
    #[inline]
    pub(super) fn locate(
        &mut self,
        place: CodeAddress,
        counts: &mut FunctionCounts,
        sink: &mut impl Sink<'c>,
    ) -> Result<u64, u64> {
        if place.section == self.section && place.address < self.limit {
            return Ok(self.limit);
        }
        self.leave(counts, sink);
        self.enter(place).map_or(Ok(self.limit), Err)
    }

    /// What the function says at `address`, which is in it; `None` where it cannot be read.
    #[inline]
    pub(super) fn row_at(&mut self, address: u64) -> Option<&Row> {
        self.read();
        while self.progress == Progress::Row
            && self.evaluation.rows().is_some_and(|rows| rows.row().end <= address)
        {
            self.step();
        }
        let rows = self.evaluation.rows().filter(|_| self.progress == Progress::Row)?;
        Some(rows.row())
    }

    /// Starts to read the current function, unless it has been.
    #[inline]
    pub(super) fn read(&mut self) {
        if let Some(function) = self.function.filter(|_| self.progress == Progress::Unread) {
            self.evaluation.start(&function);
            self.step();
        }
    }

    /// Goes to the next row.
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

    /// Ends with the current function: what has been seen of it is counted and told.
    #[inline]
    pub(super) fn leave(&mut self, counts: &mut FunctionCounts, sink: &mut impl Sink<'c>) {
        let Some(function) = self.function.take() else { return };
        self.limit = 0;
        match (self.found, self.lost) {
            (true, false) => counts.both += 1,
            (true, true) => counts.partly += 1,
            (false, true) => counts.only_cfi += 1,
            (false, false) => {}
        }
        // Instructions behind the last place that was asked for may still be wrong.
        while self.progress == Progress::Row {
            self.step();
        }
        if let Some(error) = self.error.take() {
            sink.error(&function, error);
        }
    }

    /// Goes to the function that has `place`; where there is none, the place up to which that
    /// holds.
    #[inline]
    fn enter(&mut self, place: CodeAddress) -> Option<u64> {
        loop {
            let Some((start, size)) = self.cfi.nth_range(self.next) else {
                return Some(u64::MAX);
            };
            if start > place {
                return Some(if start.section == place.section { start.address } else { u64::MAX });
            }
            let number = self.next;
            self.next += 1;
            let end = start.address.saturating_add(size);
            if start.section < place.section || end <= place.address {
                continue;
            }
            // Of functions that overlap the last one to start is found.
            let behind = loop {
                match self.cfi.nth_range(self.next) {
                    Some((_, 0)) => self.next += 1,
                    next => break next.map(|(start, _)| start),
                }
            };
            let cut = behind.filter(|next| next.section == start.section);
            let limit = cut.map_or(end, |next| end.min(next.address));
            let function = self.cfi.nth_sorted(number).filter(|_| place.address < limit);
            let Some(function) = function else { continue };
            self.function = Some(function);
            self.section = start.section;
            self.limit = limit;
            let cie = function.cie();
            self.marks = Marks { signal: cie.signal, key_b: cie.pauth_key_b };
            self.progress = Progress::Unread;
            (self.found, self.lost) = (false, false);
            return None;
        }
    }
}
