//! The decoded rows of one function, and how consumers select one of them.

use std::cell::Cell;

use sframe_validator::unwind::Frame;

use crate::answer::Stop;

/// No row starts at or before the PC.
pub(crate) const NO_ROW: Stop = Stop::nothing("no row covers it");
/// The limit on the work for one section was reached.
pub(crate) const SPENT: Stop = Stop::undecided("too many functions share rows to compare them all");

/// How many rows may still be looked at. Without a limit, functions that share rows would take more than linear time.
#[derive(Debug)]
pub(crate) struct Work {
    left: Cell<u64>,
    spent: Cell<bool>,
}

impl Work {
    /// Enough for a section of this many bytes in which no rows are shared.
    pub(crate) fn of(length: usize) -> Work {
        let left = (length as u64).saturating_mul(16).saturating_add(0x1_0000);
        Work { left: Cell::new(left), spent: Cell::new(false) }
    }

    /// Enough for rows that are kept: with it, as many rows may be shared as the section has bytes.
    pub(crate) fn of_kept(length: usize) -> Work {
        let left = (length as u64).saturating_add(0x1_0000);
        Work { left: Cell::new(left), spent: Cell::new(false) }
    }

    /// Takes one unit, if there is one.
    pub(crate) fn take(&self) -> bool {
        self.take_all(1)
    }

    /// Takes some units, if there are as many.
    pub(crate) fn take_all(&self, units: u64) -> bool {
        let rest = self.left.get().checked_sub(units);
        self.left.set(rest.unwrap_or(self.left.get()));
        if rest.is_none() {
            self.spent.set(true);
        }
        rest.is_some()
    }

    /// Whether a unit was missing.
    pub(crate) fn is_spent(&self) -> bool {
        self.spent.get()
    }
}

/// A row as a consumer decodes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// The offset of the first PC.
    pub(crate) start: u32,
    /// The offset of the last PC, for consumers that compare it.
    pub(crate) end: u32,
    /// The meaning, or what happens if the row is selected.
    pub(crate) frame: Result<Frame, Stop>,
}

/// The rows of a function up to the first that ends the search.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    steps: Vec<Step>,
    /// The largest start of a row up to here, and the largest end.
    reach: Vec<u32>,
    until: Vec<u32>,
    /// Whether a row starts before another one that precedes it.
    descends: bool,
    /// What ends the search after the last row, unless all rows were read.
    failure: Option<Stop>,
}

impl Rows {
    pub(crate) fn failed(failure: Stop) -> Rows {
        Rows { failure: Some(failure), ..Rows::default() }
    }

    pub(crate) fn push(&mut self, step: Step) {
        let larger = |list: &[u32], value: u32| list.last().map_or(value, |last| value.max(*last));
        self.descends |= self.reach.last().is_some_and(|last| step.start < *last);
        self.reach.push(larger(&self.reach, step.start));
        self.until.push(larger(&self.until, step.end));
        self.steps.push(step);
    }

    /// The search ends here.
    pub(crate) fn fail(&mut self, failure: Stop) {
        self.failure = Some(failure);
    }

    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Whether each row starts at or after the one before it.
    pub(crate) fn ascend(&self) -> bool {
        !self.descends
    }

    pub(crate) fn failure(&self) -> Option<Stop> {
        self.failure
    }

    fn frame(&self, index: usize) -> Result<Frame, Stop> {
        self.steps.get(index).map_or(Err(NO_ROW), |step| step.frame)
    }

    /// The row before the first that starts after an offset.
    pub(crate) fn before_next(&self, offset: u32) -> Result<Frame, Stop> {
        let next = self.reach.partition_point(|start| *start <= offset);
        if next == self.steps.len()
            && let Some(failure) = self.failure
        {
            return Err(failure);
        }
        next.checked_sub(1).map_or(Err(NO_ROW), |index| self.frame(index))
    }

    /// The first row that contains an offset, if the search ends at a row that starts after it.
    pub(crate) fn containing(&self, offset: u32) -> Result<Frame, Stop> {
        let beyond = self.reach.partition_point(|start| *start <= offset);
        let ending = self.until.partition_point(|end| *end < offset);
        if ending < beyond {
            self.frame(ending)
        } else if beyond < self.steps.len() {
            Err(NO_ROW)
        } else {
            Err(self.failure.unwrap_or(NO_ROW))
        }
    }

    /// The rows from the first on that ends at or after an offset. None before it contains the offset.
    pub(crate) fn ending_from(&self, offset: u32) -> impl Iterator<Item = &Step> {
        let ending = self.until.partition_point(|end| *end < offset);
        self.steps.iter().skip(ending)
    }

    /// The first row that contains an offset in a repeated block, if the search ends at a row that starts after the
    /// offset in the function.
    pub(crate) fn containing_in_block(
        &self,
        whole: u32,
        masked: u32,
        work: &Work,
    ) -> Result<Frame, Stop> {
        for step in &self.steps {
            if !work.take() {
                return Err(SPENT);
            }
            if step.start > whole {
                return Err(NO_ROW);
            }
            if step.start <= masked && masked <= step.end {
                return step.frame;
            }
        }
        Err(self.failure.unwrap_or(NO_ROW))
    }
}
