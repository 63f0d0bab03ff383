//! The states of a function, without making its rows.
//!
//! At each advance there is the state that holds up to there, whether it begins a row or not. A
//! property of every state is one of every row.

use sframe_validator::unwind::Frame;

use super::{Ending, Rows};

impl Rows<'_, '_> {
    /// Whether `pass` accepts the frame of every state, with the addresses from and up to which it
    /// holds, and the instructions can be read to their end. No row may have been read before.
    ///
    /// The frames are neighbours without gaps. Some may be equal; an expression that means
    /// something simpler is passed on as an expression.
    #[inline(always)]
    pub(crate) fn all_states(&mut self, mut pass: impl FnMut(&Frame, u64, u64) -> bool) -> bool {
        self.walk(|rows, to| {
            let passes = pass(&rows.machine.state.frame, rows.location, to);
            rows.location = to;
            passes
        })
    }

    /// Whether the frames of all rows pass a test, there are at most `most` of them, and the
    /// instructions can be read to their end. No row may have been read before.
    ///
    /// This is a shortcut that may answer no where reading the rows would say yes: an expression
    /// that means something simpler is tested as an expression, and changes that change nothing count.
    pub(crate) fn all_frames(&mut self, most: usize, test: impl Fn(&Frame) -> bool) -> bool {
        let mut changes = 0;
        self.machine.touched = true;
        self.walk(|rows, to| {
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

    /// Whether `pass` accepts every place up to which a state holds, and the instructions can be
    /// read to their end.
    #[inline(always)]
    fn walk(&mut self, mut pass: impl FnMut(&mut Self, u64) -> bool) -> bool {
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
