//! Padding: what assemblers and compilers put between functions, and after instructions that do not continue.

use std::ops::Range;

/// What an instruction is for an execution that never comes to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filling {
    /// It does nothing or traps: gaps are filled with it.
    Filler,
    /// Execution does not continue after it.
    End,
    /// Anything else.
    Other,
}

/// Finds the padding in code that is not reached, as offsets: each run of filler after an instruction that does not continue.
pub(super) struct Paddings {
    found: Vec<Range<usize>>,
    offset: usize,
    is_after_end: bool,
}

impl Paddings {
    /// For code that comes after an instruction of this kind.
    pub(super) fn after(before: Filling) -> Paddings {
        Paddings { found: Vec::new(), offset: 0, is_after_end: before == Filling::End }
    }

    /// Adds the next instruction, and its length in bytes.
    pub(super) fn add(&mut self, filling: Filling, length: usize) {
        let (start, end) = (self.offset, self.offset.saturating_add(length));
        if self.is_after_end && filling == Filling::Filler {
            match self.found.last_mut().filter(|last| last.end == start) {
                Some(last) => last.end = end,
                None => self.found.push(start..end),
            }
        } else {
            self.is_after_end = filling == Filling::End;
        }
        self.offset = end;
    }

    /// The padding that was found.
    pub(super) fn found(self) -> Vec<Range<usize>> {
        self.found
    }
}
