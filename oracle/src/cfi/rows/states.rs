//! Visits the states of a function without making its rows.
//!
//! At each advance there is the state that is valid up to there, whether it starts a row or not. A property of every
//! state is a property of every row.

use sframe_validator::unwind::Frame;

use super::{Ending, Rows};

impl Rows<'_, '_> {
    /// Whether `pass` accepts the frame of every state, with the range of addresses where it is valid, and the
    /// instructions can be read to their end. Must be called before any row is read.
    ///
    /// The frames are adjacent without gaps. Some may be equal. An expression with a simpler meaning is passed on as an
    /// expression.
    #[inline(always)]
    pub(crate) fn all_states(&mut self, mut pass: impl FnMut(&Frame, u64, u64) -> bool) -> bool {
        self.walk(|rows, to| {
            let passes = pass(&rows.machine.state.frame, rows.location, to);
            rows.location = to;
            passes
        })
    }

    /// Whether the frames of all rows pass a test, there are at most `most` of them, and the instructions can be read
    /// to their end. Must be called before any row is read.
    ///
    /// This shortcut may return false where reading the rows would succeed: an expression with a simpler meaning is
    /// tested as an expression, and changes without effect count.
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

    /// Whether `pass` accepts the end of every state, and the instructions can be read to their end.
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
            // Because it is called from only one place, it is inlined into the loop.
            if !pass(self, to) {
                return false;
            }
            if over {
                return true;
            }
        }
    }
}
