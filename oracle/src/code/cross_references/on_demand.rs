//! Cross references that are found when they are asked for.
//!
//! A [search](super::search) over the bytes of all code finds the few functions that may refer to a range of addresses. They alone
//! are decoded.

use core::ops::Range;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use sframe_validator::unwind::CodeAddress;

use super::super::image::Image;
use super::super::machine::Machine;
use super::index::Index;
use super::no_return::{LONGEST_CHAIN, no_return};
use super::scan::{LandingPads, candidate};
use super::search::functions_with;

/// The number of searches after which decoding all code is better.
const MOST_SEARCHES: usize = 16;

/// What was asked for. Nothing is locked while threads work together, because one that waits may ask for something else.
#[derive(Debug, Default)]
pub(super) struct OnDemand {
    /// By the range of addresses: at least the references to them.
    found: Mutex<Vec<(Range<u64>, Arc<Index>)>>,
    /// By address, whether a function that never returns starts there.
    no_return: Mutex<BTreeMap<u64, bool>>,
    /// The number of bytes that were decoded for that.
    decoded: AtomicU64,
    landing_pads: OnceLock<LandingPads>,
}

impl OnDemand {
    /// At least the references to a function; `None` if there were too many questions.
    pub(super) fn to_function(
        &self,
        image: &Image<'_>,
        machine: Machine,
        function: usize,
        entries: &[CodeAddress],
    ) -> Option<Arc<Index>> {
        let range = image.functions().get(function)?;
        let start = image.flat(range.start);
        let targets = start..start.saturating_add(range.bytes());
        self.references(targets, |targets| {
            let mut numbers = functions_with(image, machine, targets);
            numbers.extend(self.landing_pads(image).sources_of(function));
            Index::of(runs(numbers), image, machine, entries)
        })
    }

    /// At least the references to data; `None` if there were too many questions.
    pub(super) fn to_data(
        &self,
        image: &Image<'_>,
        machine: Machine,
        targets: Range<u64>,
    ) -> Option<Arc<Index>> {
        self.references(targets, |targets| {
            Index::of(runs(functions_with(image, machine, targets)), image, machine, &[])
        })
    }

    fn references(
        &self,
        targets: Range<u64>,
        find: impl FnOnce(&Range<u64>) -> Index,
    ) -> Option<Arc<Index>> {
        {
            let found = locked(&self.found);
            if let Some((_, index)) = found.iter().find(|(known, _)| *known == targets) {
                return Some(Arc::clone(index));
            }
            if found.len() >= MOST_SEARCHES {
                return None;
            }
        }
        let index = Arc::new(find(&targets));
        locked(&self.found).push((targets, Arc::clone(&index)));
        Some(index)
    }

    fn landing_pads(&self, image: &Image<'_>) -> &LandingPads {
        self.landing_pads.get().unwrap_or_else(|| {
            let found = LandingPads::of(image);
            self.landing_pads.get_or_init(|| found)
        })
    }

    /// Whether a function that never returns starts at an [address](Image::flat). The functions to which it jumps decide, up to the
    /// longest chain. `None` once as many bytes were decoded as the file has: functions that jump to each other could multiply the
    /// work.
    pub(super) fn never_returns(
        &self,
        image: &Image<'_>,
        machine: Machine,
        address: u64,
    ) -> Option<bool> {
        if let Some(known) = locked(&self.no_return).get(&address) {
            return Some(*known);
        }
        let mut reached = BTreeMap::new();
        let mut next = vec![image.place(address)];
        for _ in 0..LONGEST_CHAIN {
            let mut exits = Vec::new();
            for place in next {
                let function = image.find(place).filter(|_| image.starts_at(place));
                let Some(function) = function.filter(|it| !reached.contains_key(it)) else {
                    continue;
                };
                let bytes = image.functions().get(function).map_or(0, |range| range.bytes());
                if self.decoded.fetch_add(bytes, Relaxed) > image.elf().data().len() as u64 {
                    return None;
                }
                let candidate = candidate(image, machine, function);
                exits
                    .extend(candidate.iter().flat_map(|candidate| candidate.exits.iter().copied()));
                reached.insert(function, candidate);
            }
            next = exits;
        }
        let candidates = reached.into_values().flatten().collect();
        let never_returns = no_return(candidates, image).contains(address);
        locked(&self.no_return).insert(address, never_returns);
        Some(never_returns)
    }
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The functions with these numbers as ranges, each with the one after it. What an instruction at the end of a function
/// computes, such as the page of an address, is used in the next one if no jump is between them.
fn runs(mut numbers: Vec<usize>) -> Vec<Range<usize>> {
    numbers.sort_unstable();
    let mut runs: Vec<Range<usize>> = Vec::new();
    for number in numbers {
        let end = number.saturating_add(2);
        match runs.last_mut() {
            Some(last) if number <= last.end => last.end = last.end.max(end),
            _ => runs.push(number..end),
        }
    }
    runs
}
