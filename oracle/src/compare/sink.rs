//! What receives the results of a comparison of SFrame and CFI.

use super::range::Range;
use crate::cfi::{CfiError, Fde};

/// Receives the results of a comparison.
pub(crate) trait Sink<'c> {
    /// Whether the sink needs ranges that neither side describes: there is one after most functions.
    const NEITHER: bool = false;

    /// Whether the sink needs ranges about which both agree.
    const EQUAL: bool = false;

    /// Receives a range whose verdict is not [`Verdict::Equal`], or any with [`Sink::EQUAL`], in the order of addresses.
    fn range(&mut self, range: &Range<'c>);

    /// Whether the sink takes the sizes of code without SFrame ([`Sink::without_sframe`]) instead of ranges, which it does
    /// not if there are SFrame sections.
    fn counts_code_without_sframe(&self) -> bool {
        false
    }

    /// Receives the size of code of a function for which SFrame has no rows.
    fn without_sframe(&mut self, _: &Fde<'c>, _bytes: u64) {}

    /// Receives the defect that ends the rows of a function too early, once for each function.
    fn error(&mut self, _: &Fde<'c>, _: CfiError) {}
}

impl<'c, F: FnMut(&Range<'c>)> Sink<'c> for F {
    const NEITHER: bool = true;

    fn range(&mut self, range: &Range<'c>) {
        self(range);
    }
}
