//! Cross references in order, so that they can be looked up.

use core::ops::Range;

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use sframe_validator::unwind::CodeAddress;

use super::super::address_set::AddressSet;
use super::super::image::Image;
use super::super::machine::Machine;
use super::no_return::no_return;
use super::scan::{Found, Functions};

/// The number of functions that a thread examines at a time.
const GROUP: usize = 512;

/// The cross references in functions.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Index {
    /// The targets of direct calls, ordered.
    called: Vec<CodeAddress>,
    /// Those of them, apart from a function's start, that only calls in the same function have; ordered.
    local: Vec<CodeAddress>,
    /// Jumps from one function into another: the index of the other, the target, and the index of the one; ordered.
    jumps: Vec<(usize, u64, usize)>,
    /// The targets of jumps from other functions.
    jump_targets: AddressSet,
    /// The addresses of code and data that instructions contain, ordered.
    referenced: Vec<u64>,
    /// The addresses of functions that never return.
    no_return: AddressSet,
}

impl Index {
    /// Those in all functions of a file for a machine. `entries` are called from elsewhere. The threads of the current `rayon`
    /// pool go over groups of functions.
    pub(super) fn of_all(image: &Image<'_>, machine: Machine, entries: &[CodeAddress]) -> Index {
        Index::in_groups(GROUP, image, machine, entries)
    }

    /// Those in all functions, in groups of `size` functions.
    fn in_groups(
        size: usize,
        image: &Image<'_>,
        machine: Machine,
        entries: &[CodeAddress],
    ) -> Index {
        let count = image.functions().len();
        let group = |number: usize| {
            let first = number * size;
            first..first.saturating_add(size).min(count)
        };
        Index::of((0..count.div_ceil(size)).map(group).collect(), image, machine, entries)
    }

    /// Those in some functions, whose numbers are in ascending order.
    pub(super) fn of(
        groups: Vec<Range<usize>>,
        image: &Image<'_>,
        machine: Machine,
        entries: &[CodeAddress],
    ) -> Index {
        let groups = groups
            .into_par_iter()
            .map(|numbers| machine.decode(Functions { machine, image, numbers }));
        let mut all = Index { called: entries.to_vec(), ..Index::default() };
        let mut candidates = Vec::new();
        for mut group in groups.collect::<Vec<Found>>() {
            all.called.append(&mut group.called);
            all.local.append(&mut group.local);
            all.jumps.append(&mut group.jumps);
            all.referenced.append(&mut group.referenced);
            candidates.append(&mut group.candidates);
        }
        // Groups are in the order of addresses, and the sort knows what is in order already.
        all.called.sort();
        all.called.dedup();
        all.local.sort_unstable();
        all.local.dedup();
        all.local.retain(|place| all.called.binary_search(place).is_err());
        all.called.extend_from_slice(&all.local);
        all.called.sort();
        all.jumps.sort();
        all.jumps.dedup();
        all.referenced.sort();
        all.referenced.dedup();
        all.jump_targets = all.targets(image);
        all.no_return = no_return(candidates, image);
        all
    }

    /// The addresses of the targets of jumps from other functions.
    fn targets(&self, image: &Image<'_>) -> AddressSet {
        let section = |function: usize| Some(image.functions().get(function)?.start.section);
        let targets = self.jumps.iter().filter_map(|(function, address, _)| {
            let section = section(*function)?;
            Some(image.flat(CodeAddress { section, address: *address }))
        });
        AddressSet::of(targets.collect())
    }

    /// Whether a direct call leads to a place.
    pub(super) fn is_called(&self, place: CodeAddress) -> bool {
        self.called.binary_search(&place).is_ok()
    }

    /// Whether a place is not the start of a function, and only calls in the same function lead there.
    pub(super) fn is_local(&self, place: CodeAddress) -> bool {
        self.local.binary_search(&place).is_ok()
    }

    /// The places between two addresses of a section that direct calls lead to.
    pub(super) fn called_within(&self, start: CodeAddress, end: u64) -> &[CodeAddress] {
        let first = self.called.partition_point(|called| *called < start);
        let last =
            self.called.partition_point(|called| *called < CodeAddress { address: end, ..start });
        self.called.get(first..last).unwrap_or_default()
    }

    /// Whether instructions contain an address.
    pub(super) fn is_referenced(&self, address: u64) -> bool {
        self.referenced.binary_search(&address).is_ok()
    }

    /// The lowest address after this one that an instruction contains.
    pub(super) fn next_referenced(&self, address: u64) -> u64 {
        let after = self.referenced.partition_point(|place| *place <= address);
        self.referenced.get(after).copied().unwrap_or(u64::MAX)
    }

    /// Whether a function that never returns starts at an [address](Image::flat).
    pub(super) fn never_returns(&self, address: u64) -> bool {
        self.no_return.contains(address)
    }

    /// Whether functions contain jumps to an [address](Image::flat) in another one.
    pub(super) fn is_jump_target(&self, address: u64) -> bool {
        self.jump_targets.contains(address)
    }

    /// The functions with jumps into another.
    pub(super) fn sources(&self, function: usize) -> Vec<usize> {
        let first = self.jumps.partition_point(|(into, ..)| *into < function);
        let jumps = self.jumps.get(first..).unwrap_or_default();
        let jumps = jumps.iter().take_while(|(into, ..)| *into == function);
        let mut sources: Vec<usize> = jumps.map(|(.., from)| *from).collect();
        sources.sort_unstable();
        sources.dedup();
        sources
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use sframe_validator::elf::{Elf, SymbolTable};

    use super::*;
    use crate::cfi::Cfi;
    use crate::code::function_bounds;
    use crate::code::imports::NoReturnImports;

    /// Every golden file, in groups of one function and of all.
    #[test]
    fn groups_change_nothing() {
        let mut jumps = 0;
        for path in sframe_corpus::golden(&["o", "so", "exe"]) {
            let file = std::fs::read(&path).expect("readable");
            let Ok(elf) = Elf::parse(&file) else { continue };
            let Some(machine) = elf.abi().and_then(Machine::of) else { continue };
            let cfi = Cfi::load_all(&elf).expect("readable");
            let symbols = SymbolTable::load(&elf).unwrap_or_default();
            let functions = function_bounds::find(&elf, &symbols, &[], &cfi).functions;
            let imports = NoReturnImports::of(&elf, machine, &[]);
            let image =
                Image::of(Cow::Borrowed(&elf), Cow::Borrowed(&cfi), functions, (machine, imports));
            let scan = |size| Index::in_groups(size, &image, machine, &[]);
            let one_by_one = scan(1);
            assert_eq!(one_by_one, scan(usize::MAX), "{}", path.display());
            jumps += one_by_one.jumps.len();
        }
        assert!(jumps > 100, "{jumps}");
    }
}
