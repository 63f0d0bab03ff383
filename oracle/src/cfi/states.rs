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

#[cfg(test)]
mod tests {
    use sframe_validator::builder::{FunctionBuilder, SectionBuilder};
    use sframe_validator::section::Version;
    use sframe_validator::unwind::{Cfa, Recovery, Register};
    use sframe_validator::{Abi, Placement, Section};

    use super::*;
    use crate::cfi::{Cfi, Kind, RowContext};

    fn frame(offset: i64) -> Frame {
        let cfa = Cfa::RegisterOffset { register: Register(7), offset };
        let (ra, fp) = (Recovery::AtCfa(-8), Recovery::Unchanged);
        Frame { cfa, ra, fp, ra_signed: false }
    }

    /// Hostile tables let all functions point at the same rows.
    #[test]
    fn rows_are_read_within_the_budget() {
        let mut builder = SectionBuilder::new(Version::V2, Abi::Amd64);
        builder.function(FunctionBuilder::new(0x1000, 16).row(0, frame(8)));
        // Plain rows are not the last ones.
        let many = (0..16).fold(FunctionBuilder::new(0x1010, 16), |function, start| {
            function.row(start, frame(8 + 8 * i64::from(start)))
        });
        builder.function(many);
        let built = builder.build().expect("a section");
        let section = Section::parse(&built.bytes, Placement::at(0)).expect("a header");
        let entry = section.entry(0).expect("two functions");
        let function = entry.function().expect("attributes");
        // def_cfa rsp+8, offset ra -8; no instructions.
        let cie = [14, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1];
        let fde = [20_u32.to_le_bytes(), 22_u32.to_le_bytes()].concat();
        let range = [0x1000_u64.to_le_bytes(), 16_u64.to_le_bytes()].concat();
        let bytes = [cie.as_slice(), &fde, &range].concat();
        let cfi = Cfi::from_bytes(&bytes, Kind::EhFrame, 0, Abi::Amd64);
        let fde = cfi.functions().next().expect("one function");
        let mut context = RowContext::new(&cfi);
        let mut rows = fde.rows(&mut context);
        let mut budget = section.row_budget();
        let read = (0..1000).take_while(|_| {
            rows.follow(&fde);
            rows.say_the_same(&function, &mut budget)
        });
        // The row has 3 bytes, of which 13 are looked at.
        let bytes = section.header().fre_len as usize;
        assert_eq!(read.count(), (bytes - 13) / 3 + 1);
    }
}
