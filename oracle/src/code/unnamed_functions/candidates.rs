//! The addresses of code in data.

use std::collections::BTreeSet;

use sframe_validator::elf::{Elf, ElfKind};

use super::region::Region;
use crate::code::pointers::{Pointer, WORD, addresses};

/// The addresses of code in a file's data.
pub(super) struct Pointers {
    pub(super) runs: Vec<Run>,
    /// Whether compilers put the addresses of labels into jump tables: where programs are loaded at a fixed address. In others,
    /// these tables have distances.
    pub(super) may_be_labels: bool,
}

/// Addresses at adjacent places: of functions, or of the labels to which an indirect jump leads.
pub(super) struct Run {
    /// Where the first one is.
    place: u64,
    pub(super) targets: Vec<u64>,
}

impl Run {
    /// Whether a jump takes its target from one of these tables, which have labels. Tables are beside each other.
    pub(super) fn is_jump_table(&self, tables: &BTreeSet<u64>) -> bool {
        let size = WORD.saturating_mul(self.targets.len() as u64);
        tables.range(self.place..self.place.saturating_add(size)).next().is_some()
    }
}

/// Those that lead into some regions, which must be in order. Pointers to a linker's stubs are there for the dynamic linker, which
/// replaces them.
pub(super) fn in_data(elf: &Elf<'_>, regions: &[Region<'_>]) -> Pointers {
    let is_code = |address: u64| {
        let after = regions.partition_point(|it| it.range.start.address <= address);
        let region = after.checked_sub(1).and_then(|index| regions.get(index));
        let region = region.filter(|region| address < region.range.end);
        let section = region.and_then(|region| elf.code_section_at(region.range.start));
        section.is_some_and(|section| !section.is_stubs())
    };
    let mut runs: Vec<Run> = Vec::new();
    let mut end = None;
    for Pointer { place, target } in addresses(elf, is_code) {
        match runs.last_mut().filter(|_| end == Some(place)) {
            Some(run) => run.targets.push(target),
            None => runs.push(Run { place, targets: vec![target] }),
        }
        end = place.checked_add(WORD);
    }
    Pointers { runs, may_be_labels: elf.kind() == ElfKind::Executable }
}
