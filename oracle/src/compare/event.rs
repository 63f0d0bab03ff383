//! What a comparison of SFrame and CFI reports.

use super::range::Range;
use crate::cfi::{CfiError, Fde};

/// What a comparison reports.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event<'c> {
    /// A range whose verdict is wanted, in the order of addresses.
    Range(Range<'c>),
    /// The number of bytes of code of a function for which SFrame has no rows.
    WithoutSframe(Fde<'c>, u64),
    /// The defect that ends the rows of a function too early, once for each function.
    Error(Fde<'c>, CfiError),
}

/// What a comparison is to report apart from differences, losses and errors.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted {
    /// Ranges that neither side describes: there is one after most functions.
    pub(crate) neither: bool,
    /// Ranges about which both agree.
    pub(crate) equal: bool,
    /// Of code without SFrame, its size ([`Event::WithoutSframe`]) instead of its ranges.
    pub(crate) sizes_without_sframe: bool,
}

/// Receives what a comparison reports.
pub(crate) type Report<'r, 'c> = dyn FnMut(Event<'c>) + 'r;
