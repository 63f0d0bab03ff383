//! Functions that never return.

use sframe_validator::unwind::CodeAddress;

use super::super::address_set::AddressSet;
use super::super::image::Image;

/// The maximum length of a chain of functions that never return because the next one does not.
pub(super) const LONGEST_CHAIN: usize = 16;

/// A function without a return instruction, and the targets of its jumps to other functions.
pub(super) struct Candidate {
    pub(super) start: CodeAddress,
    pub(super) exits: Vec<CodeAddress>,
}

/// The functions that never return: those without a return instruction, all of whose jumps to other functions lead to such
/// functions, or to stubs of imported ones. This is a least fixpoint, so that functions that only jump to each other in a circle
/// count as returning.
pub(super) fn no_return(mut candidates: Vec<Candidate>, image: &Image<'_>) -> AddressSet {
    let mut no_return: Vec<CodeAddress> = Vec::new();
    for _ in 0..LONGEST_CHAIN {
        let never_returns = |candidate: &Candidate| {
            candidate.exits.iter().all(|exit| {
                no_return.binary_search(exit).is_ok()
                    || image.no_return_imports().has_stub(image.flat(*exit))
            })
        };
        let (more, rest): (Vec<_>, Vec<_>) = candidates.into_iter().partition(never_returns);
        if more.is_empty() {
            break;
        }
        no_return.extend(more.iter().map(|candidate| candidate.start));
        no_return.sort_unstable();
        candidates = rest;
    }
    AddressSet::of(no_return.into_iter().map(|start| image.flat(start)).collect())
}
