//! Cross references between functions, from which the call graph, entries, and functions that do not return follow.
//!
//! Whoever examines many functions finds them in one pass over all code ([`Index`]). Whoever looks at one place needs few
//! of them: they are found [on demand](on_demand), which is many times faster, with the same answers.

mod index;
mod no_return;
mod on_demand;
mod pointers;
mod scan;
mod search;

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use sframe_validator::elf::ElfKind;
use sframe_validator::unwind::CodeAddress;

use super::image::Image;
use super::jump_table::LARGEST_TABLE;
use super::machine::Machine;
use index::Index;
use on_demand::OnDemand;
use pointers::pointers;

/// The cross references of a file.
#[derive(Debug)]
pub(super) struct CrossReferences {
    machine: Machine,
    /// Places that are called from elsewhere.
    entries: Vec<CodeAddress>,
    /// Those of all code, once they were found.
    all: OnceLock<Index>,
    /// Those that were asked for before.
    on_demand: OnDemand,
    /// The starts of functions that data contains, ordered.
    pointers: OnceLock<Vec<u64>>,
}

/// Those of all code, or at least those to a range of addresses.
enum Known<'r> {
    All(&'r Index),
    Some(Arc<Index>),
}

impl Deref for Known<'_> {
    type Target = Index;

    fn deref(&self) -> &Index {
        match self {
            Known::All(index) => index,
            Known::Some(index) => index,
        }
    }
}

impl CrossReferences {
    /// Those of a file for a machine, which are found when they are asked for. `entries` are called from elsewhere.
    pub(super) fn on_demand(machine: Machine, entries: Vec<CodeAddress>) -> CrossReferences {
        CrossReferences {
            machine,
            entries,
            all: OnceLock::new(),
            on_demand: OnDemand::default(),
            pointers: OnceLock::new(),
        }
    }

    /// Finds those of all code, for many questions. The threads of the current `rayon` pool share the work.
    pub(super) fn find_all(&self, image: &Image<'_>) {
        self.all(image);
    }

    fn all(&self, image: &Image<'_>) -> &Index {
        self.all.get().unwrap_or_else(|| {
            let found = Index::of_all(image, self.machine, &self.entries);
            self.all.get_or_init(|| found)
        })
    }

    /// Finds those to a function, or those of all code.
    fn to_function(&self, image: &Image<'_>, function: usize) -> Known<'_> {
        let find = || self.on_demand.to_function(image, self.machine, function, &self.entries);
        self.known(image, find)
    }

    /// What is known of all code or, if there are few questions so far, what `find` finds.
    fn known(&self, image: &Image<'_>, find: impl FnOnce() -> Option<Arc<Index>>) -> Known<'_> {
        if let Some(all) = self.all.get() {
            return Known::All(all);
        }
        // Relocations determine the targets in an object, which is small.
        let found = match image.elf().kind() {
            ElfKind::Relocatable => None,
            _ => find(),
        };
        found.map_or_else(|| Known::All(self.all(image)), Known::Some)
    }

    /// Whether a direct call leads to the start of a function.
    pub(super) fn is_called(&self, image: &Image<'_>, function: usize) -> bool {
        let start = image.functions().get(function).map(|function| function.start);
        start.is_some_and(|start| self.to_function(image, function).is_called(start))
    }

    /// The places in a function that direct calls lead to. Of each, whether only calls in the function itself lead there, and it is
    /// not its start.
    pub(super) fn called_within(
        &self,
        image: &Image<'_>,
        function: usize,
    ) -> Vec<(CodeAddress, bool)> {
        let Some(range) = image.functions().get(function) else { return Vec::new() };
        let known = self.to_function(image, function);
        let called = known.called_within(range.start, range.end).iter();
        called.map(|place| (*place, known.is_local(*place))).collect()
    }

    /// Whether instructions or data contain the address of a function's start.
    pub(super) fn is_mentioned(&self, image: &Image<'_>, function: usize) -> bool {
        let Some(range) = image.functions().get(function) else { return false };
        let address = image.flat(range.start);
        self.to_function(image, function).is_referenced(address)
            || self.pointers.get_or_init(|| pointers(image)).binary_search(&address).is_ok()
    }

    /// The lowest address after this one that an instruction contains, up to the end of the largest jump table.
    pub(super) fn next_referenced(&self, image: &Image<'_>, address: u64) -> u64 {
        let range = address.saturating_add(1)..address.saturating_add(LARGEST_TABLE);
        let find = || self.on_demand.to_data(image, self.machine, range);
        self.known(image, find).next_referenced(address)
    }

    /// Whether a function that never returns starts at an [address](Image::flat).
    pub(super) fn never_returns(&self, image: &Image<'_>, address: u64) -> bool {
        if let Some(all) = self.all.get() {
            return all.never_returns(address);
        }
        let known = self.on_demand.never_returns(image, self.machine, address);
        known.unwrap_or_else(|| self.all(image).never_returns(address))
    }

    /// Whether functions contain jumps to an [address](Image::flat) in another one.
    pub(super) fn is_jump_target(&self, image: &Image<'_>, address: u64) -> bool {
        let function = image.find(image.place(address));
        function.is_some_and(|it| self.to_function(image, it).is_jump_target(address))
    }

    /// Whether control comes to the start of a function from the end of the one before it.
    pub(super) fn is_fallen_into(&self, image: &Image<'_>, function: usize) -> bool {
        let functions = image.functions();
        function.checked_sub(1).is_some_and(|before| {
            let end = functions.get(before).map(|range| (range.start.section, range.end));
            let start = functions.get(function).map(|range| range.start);
            end == start.map(|start| (start.section, start.address))
                && scan::falls_through(image, self.machine, before)
        })
    }

    /// The functions with jumps into another.
    pub(super) fn sources(&self, image: &Image<'_>, function: usize) -> Vec<usize> {
        self.to_function(image, function).sources(function)
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::path::Path;

    use sframe_validator::elf::{Elf, SymbolTable};

    use super::*;
    use crate::cfi::Cfi;
    use crate::code::function_bounds;
    use crate::code::imports::NoReturnImports;

    /// What is known of a function.
    type Answers = (bool, Vec<(CodeAddress, bool)>, bool, Vec<usize>, Vec<bool>, bool);

    fn answers(known: &CrossReferences, image: &Image<'_>, function: usize) -> Answers {
        let start = image.flat(image.functions().get(function).expect("a function").start);
        let called = known.called_within(image, function);
        let targets = called.iter().map(|(place, _)| image.flat(*place)).chain([start]);
        (
            known.is_called(image, function),
            called.clone(),
            known.is_mentioned(image, function),
            known.sources(image, function),
            targets.map(|target| known.is_jump_target(image, target)).collect(),
            known.never_returns(image, start),
        )
    }

    /// Compares the answers about every function. Returns the number of jumps between functions.
    fn compare(path: &Path) -> usize {
        let file = std::fs::read(path).expect("readable");
        let Ok(elf) = Elf::parse(&file) else { return 0 };
        let Some(machine) = elf.abi().and_then(Machine::of) else { return 0 };
        let cfi = Cfi::load_all(&elf).expect("readable");
        let symbols = SymbolTable::load(&elf).unwrap_or_default();
        let functions = function_bounds::find(&elf, &symbols, &[], &cfi).functions;
        let stubs = function_bounds::stubs(&elf, machine.conventions());
        let entries: Vec<_> = stubs.iter().copied().map(CodeAddress::absolute).collect();
        let imports = NoReturnImports::of(&elf, machine, &stubs);
        let (elf, cfi) = (Cow::Borrowed(&elf), Cow::Borrowed(cfi.as_slice()));
        let image = Image::of(elf, cfi, functions, (machine, imports));
        let all = CrossReferences::on_demand(machine, entries.clone());
        all.find_all(&image);
        let mut sources = 0;
        for function in 0..image.functions().len() {
            let few = CrossReferences::on_demand(machine, entries.clone());
            let (found, expected) =
                (answers(&few, &image, function), answers(&all, &image, function));
            assert_eq!(found, expected, "function {function} of {}", path.display());
            assert!(few.all.get().is_none() || image.elf().kind() == ElfKind::Relocatable);
            sources += expected.3.len();
        }
        let mut few = CrossReferences::on_demand(machine, entries.clone());
        let mut referenced = all.next_referenced(&image, 0);
        while referenced != u64::MAX {
            if few.all.get().is_some() {
                few = CrossReferences::on_demand(machine, entries.clone());
            }
            let before = referenced.saturating_sub(1);
            let found = few.next_referenced(&image, before);
            assert_eq!(found, referenced, "{}", path.display());
            referenced = all.next_referenced(&image, referenced);
        }
        sources
    }

    /// Every function of the golden files. Those of real libraries are compared by what is proven (`tests/code.rs`).
    #[test]
    fn what_is_found_on_demand_is_what_is_found_in_all_code() {
        let golden = sframe_corpus::golden(&["so", "exe"]);
        let jumps: usize = golden.iter().map(|path| compare(path)).sum();
        assert!(jumps > 100, "{jumps}");
    }
}
