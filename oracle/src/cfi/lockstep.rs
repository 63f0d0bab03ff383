//! Instructions beside rows that ought to say the same.
//!
//! Producers make SFrame's rows from CFI, so nearly every function has the same frames on both
//! sides. To know that, no row of CFI has to be made: at each advance the state that holds up to
//! there stands beside the other side's row.

use sframe_validator::section;

use super::machine::same;
use super::rows::{Ending, Rows};

impl Rows<'_, '_> {
    /// Whether `others`, row behind row and without a gap, say at each PC of the function what its
    /// instructions do, and both can be read to their ends. No row may have been read before.
    ///
    /// A shortcut: where the answer is no, nothing is known but that, and both sides have to be
    /// read anew. It is also no where only the order of rows or the form of an expression differs.
    pub(crate) fn say_the_same(&mut self, others: &mut section::Rows<'_, '_>) -> bool {
        if !matches!(self.ending, Ending::Running) {
            return false;
        }
        let mut other_end = self.location;
        loop {
            let (to, over) = match self.advance() {
                Ok(to) => (to, false),
                Err(Ending::Row(None)) => (self.end, true),
                Err(_) => return false,
            };
            while self.location < to {
                if self.location == other_end {
                    match others.next_row() {
                        Ok(Some(row)) if row.start == self.location && row.start < row.end => {
                            other_end = row.end;
                        }
                        _ => return false,
                    }
                    self.machine.touched = true;
                }
                if self.machine.touched {
                    self.machine.touched = false;
                    if !same(&self.machine.state.frame, &others.row().frame) {
                        return false;
                    }
                }
                self.location = other_end.min(to);
            }
            if over {
                return other_end == to && matches!(others.next_row(), Ok(None));
            }
        }
    }
}
