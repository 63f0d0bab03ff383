//! A range of PCs with one verdict, as reported.

use super::verdict::{Fields, Verdict};
use crate::cfi::Fde;
use crate::witness::{SframeFunction, Statement};

/// A range of PCs with one verdict. Adjacent ranges with equal content are merged.
#[derive(Clone, Copy, Debug)]
pub struct Range<'c> {
    /// The ELF section in a relocatable object; otherwise 0.
    pub section: u32,
    /// The first PC.
    pub start: u64,
    /// The end, exclusive.
    pub end: u64,
    /// The result of comparing SFrame and CFI.
    pub verdict: Verdict,
    /// The fields that could not be compared because CFI has an expression for them, if others could be compared.
    pub undecided: Fields,
    /// SFrame's statement. It has no frame if it cannot be read, or if the function has no rows and that does not mean
    /// an outermost frame.
    pub sframe: Option<Statement<SframeFunction>>,
    /// The stored start of SFrame's row: a row out of order is valid only later. In a repeated block, the offset in the
    /// first block.
    pub row_start: Option<u64>,
    /// CFI's statement. It has no frame if it cannot be read, or if SFrame has nothing to compare it with.
    pub cfi: Option<Statement<Fde<'c>>>,
}

impl Range<'_> {
    /// Whether `next` only extends this range.
    pub(super) fn continues(&self, next: &Range<'_>) -> bool {
        self.section == next.section
            && self.end == next.start
            && self.verdict == next.verdict
            && self.sframe == next.sframe
            && self.cfi == next.cfi
    }
}

#[cfg(test)]
mod tests {
    use sframe_validator::unwind::{CodeAddress, Frame};

    use super::*;

    #[test]
    fn only_the_same_content_continues_a_range() {
        let start = CodeAddress::absolute(0x1000);
        let function = SframeFunction { section: 0, index: 0, start, size: 0x20 };
        let sframe = Some(Statement { function, frame: Some(Frame::OUTERMOST) });
        let first = Range {
            section: 1,
            start: 0x1000,
            end: 0x1010,
            verdict: Verdict::OnlySframe,
            undecided: Fields::default(),
            sframe,
            row_start: Some(0x1000),
            cfi: None,
        };
        // It may be another row with the same frame.
        let next = Range { start: 0x1010, end: 0x1020, row_start: Some(0x1010), ..first };
        assert!(first.continues(&next));
        assert!(!first.continues(&Range { section: 2, ..next }));
        assert!(!first.continues(&Range { start: 0x1011, ..next }));
        assert!(!first.continues(&Range { verdict: Verdict::Undecided, ..next }));
        let unreadable = Some(Statement { function, frame: None });
        assert!(!first.continues(&Range { sframe: unreadable, ..next }));
    }
}
