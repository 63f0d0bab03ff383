//! Where functions lead to, kept from when they were followed.

use std::ops::Range;
use std::sync::OnceLock;

/// Where a function leads to.
#[derive(Debug)]
pub(super) struct Leads {
    /// Jumps out of the function with the caller's registers and stack, ordered.
    pub(super) tail_calls: Box<[u64]>,
    /// The addresses of its parts.
    pub(super) parts: Box<[Range<u64>]>,
    /// The number of blocks that were executed to find this out.
    pub(super) blocks: u64,
}

impl Leads {
    /// Whether the function jumps to an address with the caller's registers and stack.
    pub(super) fn has_tail_call(&self, address: u64) -> bool {
        self.tail_calls.binary_search(&address).is_ok()
    }

    /// Whether an address is in the function.
    pub(super) fn contains(&self, address: u64) -> bool {
        self.parts.iter().any(|part| part.contains(&address))
    }
}

/// The functions of a file that were followed to the end. Which these are depends on the order in which threads do that; a
/// function that asks for another gets the same answer, at the same price, as if it followed the other itself.
#[derive(Debug)]
pub(super) struct Followed(Vec<OnceLock<Leads>>);

impl Followed {
    /// For a number of functions.
    pub(super) fn none_of(functions: usize) -> Followed {
        let mut followed = Vec::new();
        followed.resize_with(functions, OnceLock::new);
        Followed(followed)
    }

    pub(super) fn get(&self, function: usize) -> Option<&Leads> {
        self.0.get(function)?.get()
    }

    /// Adds a function, unless it is there already.
    pub(super) fn add(&self, function: usize, leads: impl FnOnce() -> Leads) {
        if let Some(place) = self.0.get(function) {
            place.get_or_init(leads);
        }
    }
}
