//! Functions that nothing names: in code without CFI and SFrame, in a stripped file or where symbols name the smaller part.
//!
//! One starts at the entry point of the file, at a symbol, where a direct call leads that control can reach, and where an address
//! in reached code or in data leads. Such an address may also be that of a label, to which an indirect jump leads; so it counts
//! only if the code around it looks like a boundary of functions.

mod candidates;
mod labels;
mod region;
mod walk;

use std::collections::BTreeSet;

use sframe_validator::elf::{Elf, ElfKind, ElfSection, SHT_SYMTAB, SectionHeaders};
use sframe_validator::unwind::CodeAddress;

use super::imports::NoReturnImports;
use super::machine::Machine;
use crate::witness::CodeRange;
use region::Region;
use walk::Walk;

/// What is known about the functions of a file.
#[derive(Clone, Copy)]
pub(super) struct Known<'k> {
    /// The functions with a size, ordered and without overlaps.
    pub(super) functions: &'k [CodeRange],
    /// The places that symbols name, ordered.
    pub(super) named: &'k [CodeAddress],
    /// The sections of code in which neither CFI nor SFrame describes a function.
    pub(super) undescribed: &'k [CodeRange],
    pub(super) imports: &'k NoReturnImports,
}

/// The functions of a linked file that are not known. Each ends where the next one starts, or with its section.
pub(super) fn unnamed_functions(
    elf: &Elf<'_>,
    machine: Machine,
    known: Known<'_>,
) -> Vec<CodeRange> {
    if !matches!(elf.kind(), ElfKind::Executable | ElfKind::Shared) {
        return Vec::new();
    }
    let is_stripped = elf.sections().iter().all(|section| section.sh_type != SHT_SYMTAB);
    let is_unknown = |range: &CodeRange| is_stripped || known.names_less_than_half(range);
    let mut sections: Vec<CodeRange> =
        known.undescribed.iter().copied().filter(is_unknown).collect();
    sections.sort_unstable();
    // Sections that overlap are not searched: together they may be larger than the file.
    let (mut done, mut room) = (0, elf.data().len());
    let regions = sections.into_iter().filter_map(|range| {
        let code = elf.code_bytes(range.start, range.bytes())?;
        room = room.checked_sub(code.len())?;
        let is_apart = range.start.address >= done;
        done = range.end.max(done);
        is_apart.then(|| Region::new(range, code))
    });
    let mut regions: Vec<Region<'_>> = regions.collect();
    if regions.is_empty() {
        return Vec::new();
    }
    // mold names the linker's stubs, which are no functions of their own.
    let is_stub =
        |place: &CodeAddress| elf.code_section_at(*place).is_some_and(ElfSection::is_stubs);
    let named = known.named.iter().filter(|place| !is_stub(place)).map(|place| place.address);
    let entries = named.chain([elf.entry()].into_iter().filter(|entry| *entry != 0));
    let entries: BTreeSet<u64> = entries.collect();
    if elf.section_headers() != SectionHeaders::Listed {
        regions.iter_mut().for_each(|region| region.doubt_without(&entries));
    }
    let pointers = candidates::in_data(elf, &regions);
    let walk = Walk::new(regions, machine, known.imports, entries, pointers);
    let found = machine.decode(walk);
    found.into_iter().filter_map(|range| known.outside(range)).collect()
}

impl Known<'_> {
    /// The functions that start in a range.
    fn within(&self, range: &CodeRange) -> &[CodeRange] {
        let from = self.functions.partition_point(|it| it.start < range.start);
        let rest = self.functions.get(from..).unwrap_or_default();
        let count = rest.partition_point(|it| {
            it.start.section == range.start.section && it.start.address < range.end
        });
        rest.get(..count).unwrap_or_default()
    }

    fn names_less_than_half(&self, range: &CodeRange) -> bool {
        let named = self.within(range).iter().map(CodeRange::bytes).fold(0, u64::saturating_add);
        named < range.bytes() / 2
    }

    /// A function that was found, up to the next one that is known; `None` if a known one contains its start.
    fn outside(&self, range: CodeRange) -> Option<CodeRange> {
        let after = self.functions.partition_point(|it| it.start <= range.start);
        let before = after.checked_sub(1).and_then(|index| self.functions.get(index));
        let is_inside = before.is_some_and(|it| {
            it.start.section == range.start.section && range.start.address < it.end
        });
        let next = self.functions.get(after).filter(|it| it.start.section == range.start.section);
        let end = next.map_or(range.end, |next| next.start.address.min(range.end));
        (!is_inside).then_some(CodeRange { end, ..range })
    }
}
