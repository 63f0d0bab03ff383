//! What holds all over a function, without making its rows.
//!
//! At each advance stands the state that holds up to there, whether it begins a row or not. Where
//! every state passes, every row would.

use sframe_validator::section::{self, RowBudget};
use sframe_validator::unwind::Frame;

use super::machine::same;
use super::rows::{Ending, Rows};

impl Rows<'_, '_> {
    /// Whether the rows of `other`, plain ones, say at each PC of the function what its
    /// instructions do, and both can be read to their ends. No row may have been read before. What
    /// was read of `other` is taken from the budget where the answer is yes.
    ///
    /// Producers make SFrame's rows from CFI, so nearly every function is one for this shortcut.
    /// Where the answer is no, nothing is known but that, and both sides have to be read anew. It
    /// is also no where only the order of rows or the form of an expression differs.
    pub(crate) fn say_the_same(
        &mut self,
        other: &section::Function<'_>,
        budget: &mut RowBudget,
    ) -> bool {
        let Some(mut others) = other.plain_rows(budget) else { return false };
        let start = self.location;
        let mut next = others.next_row();
        // What the other side says, and up to where.
        let mut frame = Frame::OUTERMOST;
        let mut end = start;
        let agrees = self.all_states(|rows, to| {
            while rows.location < to {
                if rows.location == end {
                    let Some(row) = next else { return false };
                    let Some(says) = others.frame(&row) else { return false };
                    frame = says;
                    next = others.next_row();
                    end = match next {
                        Some(next) => start.saturating_add(next.start().into()),
                        None => rows.end,
                    };
                    let place = start.saturating_add(row.start().into());
                    if place != rows.location || place >= end {
                        return false;
                    }
                }
                if !same(&rows.machine.state.frame, &frame) {
                    return false;
                }
                rows.location = end.min(to);
            }
            true
        });
        let agrees = agrees && end == self.end && next.is_none() && others.are_over();
        if agrees {
            others.spend(budget);
        }
        agrees
    }

    /// Whether the frames of all rows pass a test, there are no more than `most` of them, and the
    /// instructions can be read to their end. No row may have been read before.
    ///
    /// A shortcut: an expression that means something simpler is tested as it stands, and changes
    /// that change nothing count.
    pub(crate) fn all_frames(&mut self, most: usize, test: impl Fn(&Frame) -> bool) -> bool {
        let mut changes = 0;
        self.machine.touched = true;
        self.all_states(|rows, to| {
            if rows.machine.touched && rows.location < to {
                rows.machine.touched = false;
                changes += 1;
                if changes > most || !test(&rows.machine.state.frame) {
                    return false;
                }
            }
            rows.location = to;
            true
        })
    }

    /// Whether `pass` does for every place up to which a state holds, and the instructions can be
    /// read to their end.
    #[inline(always)]
    fn all_states(&mut self, mut pass: impl FnMut(&mut Self, u64) -> bool) -> bool {
        if !matches!(self.ending, Ending::Running) {
            return false;
        }
        loop {
            let (to, over) = match self.advance() {
                Ok(to) => (to, false),
                Err(Ending::Row(None)) => (self.end, true),
                Err(_) => return false,
            };
            // Called from one place, it becomes part of the loop.
            if !pass(self, to) {
                return false;
            }
            if over {
                return true;
            }
        }
    }
}
