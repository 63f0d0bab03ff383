//! What holds all over a function, without making its rows.
//!
//! At each advance stands the state that holds up to there, whether it begins a row or not. Where
//! every state passes, every row would.

use sframe_validator::section;
use sframe_validator::unwind::Frame;

use super::machine::same;
use super::rows::{Ending, Rows};

impl Rows<'_, '_> {
    /// Whether `others`, row behind row and without a gap, say at each PC of the function what its
    /// instructions do, and both can be read to their ends. No row may have been read before.
    ///
    /// Producers make SFrame's rows from CFI, so nearly every function is one for this shortcut.
    /// Where the answer is no, nothing is known but that, and both sides have to be read anew. It
    /// is also no where only the order of rows or the form of an expression differs.
    pub(crate) fn say_the_same(&mut self, others: &mut section::Rows<'_, '_>) -> bool {
        let mut other_end = self.location;
        self.all_states(|rows, to| {
            while rows.location < to {
                if rows.location == other_end {
                    match others.next_row() {
                        Ok(Some(row)) if row.start == rows.location && row.start < row.end => {
                            other_end = row.end;
                        }
                        _ => return false,
                    }
                    rows.machine.touched = true;
                }
                if rows.machine.touched {
                    rows.machine.touched = false;
                    if !same(&rows.machine.state.frame, &others.row().frame) {
                        return false;
                    }
                }
                rows.location = other_end.min(to);
            }
            true
        }) && other_end == self.end
            && matches!(others.next_row(), Ok(None))
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
            match self.advance() {
                Ok(to) if pass(self, to) => {}
                Err(Ending::Row(None)) => return pass(self, self.end),
                Ok(_) | Err(_) => return false,
            }
        }
    }
}
