//! Start fields that a linker did not adjust. GNU as until 2.44 writes fields that count from themselves, and leaves it to
//! the linker to let them count from the section, as the header says. lld and gold copy them.

use std::collections::BTreeSet;

use sframe_oracle::cfi::{Cfi, CfiSource};
use sframe_record::{ElfType, Producer, Record};
use sframe_validator::elf::{Elf, SframeSection, SymbolTable};
use sframe_validator::section::Flags;
use sframe_validator::unwind::CodeAddress;
use sframe_validator::{Section, Version};

use crate::start_code::StartFiles;

/// The start and size of a function.
type Place = (CodeAddress, u64);

/// The functions of a section whose start fields count from themselves, although its header says that they count from the
/// section.
#[derive(Clone, Debug)]
pub(crate) struct Unadjusted {
    /// The functions as CFI has them: the start, and the end.
    functions: BTreeSet<(u64, u64)>,
    /// Whether CFI has other functions than these, the linker's stubs and those of the start files.
    has_others: bool,
    /// The bytes of functions that also start where the section says.
    right_as_stated: u64,
}

impl Unadjusted {
    /// Looks at the section and the CFI of a linked file, if its linker is one of those that do not adjust starts.
    pub(crate) fn of(
        producers: &[Producer<'_>],
        elf: &Elf<'_>,
        section: &Section<'_>,
        cfi: &[Cfi<'_>],
    ) -> Option<Unadjusted> {
        if !are_without_sframe(producers) || !may_be_unadjusted(section) {
            return None;
        }
        let known: BTreeSet<Place> = functions(cfi).collect();
        let (moved, right_as_stated) = moved(section, &known)?;
        let has_others = has_others(elf, &known, &moved)?;
        let range = |(start, size): Place| (start.address, start.address.saturating_add(size));
        let functions = moved.into_iter().map(range).collect();
        Some(Unadjusted { functions, has_others, right_as_stated })
    }

    /// Reads the section and the CFI of a file for [`Unadjusted::of`].
    pub(super) fn read(
        record: &Record<'_>,
        elf: &Elf<'_>,
        sections: &[SframeSection<'_>],
    ) -> Option<Unadjusted> {
        let [section] = sections else { return None };
        let is_linked = matches!(record.elf_type, Some(ElfType::Executable | ElfType::Shared));
        if !is_linked || !is_linked_without_sframe(record) {
            return None;
        }
        let section = Section::parse(section.data.ok()?, section.placement().ok()?).ok()?;
        if !may_be_unadjusted(&section) {
            return None;
        }
        let source = CfiSource::of(elf);
        Unadjusted::of(&record.producers, elf, &section, &source.load_all().ok()?)
    }

    /// Whether code is a part of one of the functions.
    pub(crate) fn contains(&self, start: u64, end: u64) -> bool {
        let before = self.functions.range(..=(start, u64::MAX)).next_back();
        before.is_some_and(|(first, last)| *first <= start && end <= *last)
    }

    /// The bytes of functions that also start where the section says.
    pub(crate) const fn right_as_stated(&self) -> u64 {
        self.right_as_stated
    }

    /// Whether CFI has other functions than these, the linker's stubs and those of the start files.
    pub(crate) const fn has_others(&self) -> bool {
        self.has_others
    }
}

/// Whether a linker made the file that treats `.sframe` like any other data.
pub(crate) fn is_linked_without_sframe(record: &Record<'_>) -> bool {
    are_without_sframe(&record.producers)
}

fn are_without_sframe(producers: &[Producer<'_>]) -> bool {
    producers
        .iter()
        .any(|producer| producer.is_linker() && matches!(producer.name.as_str(), "LLD" | "gold"))
}

fn functions(cfi: &[Cfi<'_>]) -> impl Iterator<Item = Place> {
    cfi.iter().flat_map(Cfi::functions).map(|function| (function.start(), function.size()))
}

/// Whether the header says that starts count from the section. Linkers that adjust starts also sort functions.
fn may_be_unadjusted(section: &Section<'_>) -> bool {
    let header = section.header();
    header.version != Version::V3 && header.flags.0 & (Flags::PCREL | Flags::SORTED) == 0
}

/// The functions of the section as CFI has them, if each start field leads to another one of them when it counts from
/// itself, and not all of them do when they count from the section. Also returns the bytes of those that do.
fn moved(section: &Section<'_>, known: &BTreeSet<Place>) -> Option<(BTreeSet<Place>, u64)> {
    let (mut moved, mut is_right_as_stated, mut right) = (BTreeSet::new(), true, 0_u64);
    for function in section.functions() {
        let entry = *function.ok()?.entry();
        let stated = entry.start().ok()?;
        let size = u64::from(entry.size());
        let address = stated.address.wrapping_add(entry.offset());
        let place = (CodeAddress { address, ..stated }, size);
        if size == 0 || !known.contains(&place) || !moved.insert(place) {
            return None;
        }
        match known.contains(&(stated, size)) {
            true => right = right.saturating_add(size),
            false => is_right_as_stated = false,
        }
    }
    (!is_right_as_stated).then_some((moved, right))
}

/// Whether CFI has other functions than those that were moved, the linker's stubs and those of the start files.
fn has_others(elf: &Elf<'_>, known: &BTreeSet<Place>, moved: &BTreeSet<Place>) -> Option<bool> {
    let (symbols, files) = (SymbolTable::load(elf).ok()?, StartFiles::of(elf));
    let is_other = |(start, size): &&Place| {
        let is_stub = elf.code_section_at(*start).is_some_and(|section| section.is_stubs());
        let is_start = || files.as_ref().is_some_and(|of| of.contain_with(*start, &symbols));
        *size > 0 && !is_stub && !is_start()
    };
    Some(known.difference(moved).any(|extent| is_other(&extent)))
}
