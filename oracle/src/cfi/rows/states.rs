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

#[cfg(test)]
mod tests {
    use sframe_validator::Abi;
    use sframe_validator::unwind::{Cfa, Register};

    use crate::cfi::{Cfi, Kind, RowContext};

    /// Whether at most `most` frames of a function of 16 bytes have a CFA based on R7. Its CFA is R7+8 at first.
    fn all(program: &[u8], most: usize) -> bool {
        let length = |bytes: usize| u32::try_from(bytes).expect("short").to_le_bytes();
        let cie = [14, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0, 0];
        let head = [length(20 + program.len()), 22_u32.to_le_bytes()].concat();
        let range = [0x1000_u64.to_le_bytes(), 16_u64.to_le_bytes()].concat();
        let bytes = [cie.as_slice(), &head, &range, program].concat();
        let cfi = Cfi::from_bytes(&bytes, Kind::EhFrame, 0, Abi::Amd64);
        let function = cfi.functions().next().expect("one function");
        let mut context = RowContext::new(&cfi);
        function.rows(&mut context).all_frames(most, |frame| {
            matches!(frame.cfa, Cfa::RegisterOffset { register: Register(7), .. })
        })
    }

    /// DWARF 5 6.4.2: `def_cfa_offset` (0x0e) after an advance (0x41) makes a row, and one without an advance replaces
    /// the rule of the same row.
    #[test]
    fn frames_are_counted_and_tested() {
        let three = [0x41, 0x0e, 16, 0x41, 0x0e, 24];
        assert!(all(&three, 3) && all(&three, 4));
        assert!(!all(&three, 2) && !all(&three, 1));
        assert!(all(&[], 1) && !all(&[], 0));
        assert!(all(&[0x0e, 16, 0x0e, 24], 1));
        // The same frame goes on after an advance without a change.
        assert!(all(&[0x41, 0x41, 0x0e, 16], 2));
        // A rule based on R6 (def_cfa_register) counts if it is valid anywhere: first, in the middle, or at the end.
        assert!(!all(&[0x0d, 6], 9));
        assert!(!all(&[0x41, 0x0d, 6, 0x41, 0x0d, 7], 9));
        assert!(!all(&[0x41, 0x0d, 6], 9));
        assert!(all(&[0x41, 0x0d, 6, 0x0d, 7], 9));
        // It is valid nowhere in a row without bytes at the end: the advance leads to 16.
        assert!(all(&[0x50, 0x0d, 6], 9));
        // An instruction that is not defined.
        assert!(!all(&[0x41, 0x3f], 9));
    }
}
