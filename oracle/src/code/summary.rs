//! Function summaries: what the analysis of one function needs to know of another, kept from the first time that the other was
//! analysed.

use std::ops::Range;
use std::sync::OnceLock;

/// The summary of a function.
#[derive(Debug)]
pub(super) struct FunctionSummary {
    /// The targets of its tail calls, ordered.
    pub(super) tail_calls: Box<[u64]>,
    /// The addresses of its fragments.
    pub(super) fragments: Box<[Range<u64>]>,
    /// The number of blocks that were executed for it: its price, which whoever uses it pays, too.
    pub(super) blocks: u64,
}

impl FunctionSummary {
    /// Whether the function has a tail call to an address.
    pub(super) fn has_tail_call(&self, address: u64) -> bool {
        self.tail_calls.binary_search(&address).is_ok()
    }

    /// Whether an address is in the function.
    pub(super) fn contains(&self, address: u64) -> bool {
        self.fragments.iter().any(|fragment| fragment.contains(&address))
    }
}

/// The summaries of the functions that were analysed from their starts to a fixpoint. Which these are depends on the order of
/// threads. Results do not: a summary says what an analysis would find, and costs as much.
#[derive(Debug)]
pub(super) struct SummaryCache(Vec<OnceLock<FunctionSummary>>);

impl SummaryCache {
    /// Empty, for a number of functions.
    pub(super) fn for_functions(functions: usize) -> SummaryCache {
        let mut summaries = Vec::new();
        summaries.resize_with(functions, OnceLock::new);
        SummaryCache(summaries)
    }

    pub(super) fn get(&self, function: usize) -> Option<&FunctionSummary> {
        self.0.get(function)?.get()
    }

    /// Adds the summary of a function, unless it is there already.
    pub(super) fn add(&self, function: usize, summary: impl FnOnce() -> FunctionSummary) {
        if let Some(place) = self.0.get(function) {
            place.get_or_init(summary);
        }
    }
}
