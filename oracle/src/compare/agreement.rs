//! Recognizes functions that SFrame and CFI describe identically from start to end, without making rows of either side.

use sframe_validator::section::{Function, RowBudget};
use sframe_validator::unwind::Frame;

use crate::cfi::{Rows, same};

/// Whether the rows of `sframe`, which must be plain, and the instructions of `cfi` give the same frame at each PC of a
/// function from `start` to `end`, and both can be read to their ends. Must be called before any row of `cfi` is read.
/// If the answer is yes, the rows that were read are charged to the budget. If the instructions of `cfi` are about code
/// after `end`, too, the answer is no.
///
/// Producers make SFrame's rows from CFI, so nearly every function qualifies. If the answer is no, nothing else is
/// known, and both have to be read again. The answer is also no if only the order of rows or the form of an expression
/// differs.
// A separate function keeps the sweep around it small.
#[inline(never)]
pub(super) fn agree_all_over(
    sframe: &Function<'_>,
    budget: &mut RowBudget,
    cfi: &mut Rows<'_, '_>,
    start: u64,
    end: u64,
) -> bool {
    let Some(mut rows) = sframe.plain_rows(budget) else { return false };
    let mut next = rows.next_row();
    // SFrame's frame, and the address up to which it is valid.
    let mut frame = Frame::OUTERMOST;
    let mut until = start;
    let agree = cfi.all_states(|state, from, to| {
        let mut at = from;
        while at < to {
            if at == until {
                let Some(row) = next else { return false };
                let Some(says) = rows.frame(&row) else { return false };
                frame = says;
                next = rows.next_row();
                until = match next {
                    Some(next) => start.saturating_add(next.start().into()),
                    None => end,
                };
                let place = start.saturating_add(row.start().into());
                if place != at || place >= until {
                    return false;
                }
            }
            if !same(state, &frame) {
                return false;
            }
            at = until.min(to);
        }
        true
    });
    let agree = agree && until == end && next.is_none() && rows.are_over();
    if agree {
        rows.spend(budget);
    }
    agree
}

#[cfg(test)]
mod tests {
    use sframe_validator::section::Version;
    use sframe_validator::unwind::{Cfa, Recovery, Register};
    use sframe_validator::write::{FunctionBuilder, SectionBuilder};
    use sframe_validator::{Abi, Placement, Section};

    use super::*;
    use crate::cfi::{Cfi, Kind, RowContext};

    fn frame(offset: i64) -> Frame {
        let cfa = Cfa::RegisterOffset { register: Register(7), offset };
        let (ra, fp) = (Recovery::AtCfa(-8), Recovery::Unchanged);
        Frame { cfa, ra, fp, ra_signed: false }
    }

    /// In malicious tables, all functions may refer to the same rows.
    #[test]
    fn rows_are_read_within_the_budget() {
        let mut builder = SectionBuilder::new(Version::V2, Abi::Amd64);
        builder.function(FunctionBuilder::new(0x1000, 16).row(0, frame(8)));
        // More rows follow, because the last rows of a section cannot be read as plain rows.
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
            agree_all_over(&function, &mut budget, &mut rows, 0x1000, 0x1010)
        });
        // A row has 3 bytes, but the reader of plain rows needs 13 bytes to decode one.
        let bytes = section.header().fre_len as usize;
        assert_eq!(read.count(), (bytes - 13) / 3 + 1);
    }
}
