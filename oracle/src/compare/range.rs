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
