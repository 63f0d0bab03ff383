//! A range of PCs with one verdict, as reports get it.

use super::verdict::{Fields, Verdict};
use crate::cfi::Fde;
use crate::witness::{SframeFunction, Statement};

/// A range of PCs with one verdict. Neighbours that say the same are one range.
#[derive(Clone, Copy, Debug)]
pub struct Range<'c> {
    /// The ELF section in a relocatable object, else 0.
    pub section: u32,
    /// The first PC.
    pub start: u64,
    /// The end, exclusive.
    pub end: u64,
    /// How SFrame and CFI compare.
    pub verdict: Verdict,
    /// The fields that could not be compared, where others could: CFI has an expression for them.
    pub undecided: Fields,
    /// What SFrame says. There is no frame where it cannot be read, or where the function has no rows
    /// and is not outermost by that.
    pub sframe: Option<Statement<SframeFunction>>,
    /// Where SFrame's row starts, as it is stored: a row out of order holds only later. In a repeated
    /// block, its place in the first one.
    pub row_start: Option<u64>,
    /// What CFI says. There is no frame where it cannot be read, or where SFrame says nothing that it
    /// could be compared with.
    pub cfi: Option<Statement<Fde<'c>>>,
}

impl Range<'_> {
    /// Whether `next` only makes the range longer.
    pub(super) fn continues(&self, next: &Range<'_>) -> bool {
        self.section == next.section
            && self.end == next.start
            && self.verdict == next.verdict
            && self.sframe == next.sframe
            && self.cfi == next.cfi
    }
}
