//! What a reader finds in the sections of a file: whether known defects of producers left anything of them.

use sframe_defects::Found;
use sframe_input::SectionSource;
use sframe_oracle::compare::Sums;
use sframe_validator::Section;

use super::elf_file::ElfFile;

/// What a reader finds in the sections of `file`, according to the bytes of its code by verdict.
pub(super) fn found(file: &ElfFile<'_>, sums: &Sums) -> Found {
    let sum = |of: fn(&SectionSource<'_>) -> u64| {
        file.sources.iter().map(of).fold(0, u64::saturating_add)
    };
    let right = sums.equal.saturating_add(sums.limited);
    // Code may be undecided because a function without a place may describe it: readers find none there.
    let unproven = sums.only_sframe.saturating_add(sums.undecided);
    Found {
        is_open: file.sources.iter().all(|source| source.section.is_ok()),
        described: sum(described),
        right,
        unproven: unproven.min(sum(placed).saturating_sub(right)),
    }
}

/// The bytes of code of functions whose start is known.
fn placed(source: &SectionSource<'_>) -> u64 {
    let Ok(section) = &source.section else { return 0 };
    let entries = section.entries().filter(|entry| entry.start().is_ok());
    entries.map(|entry| u64::from(entry.size())).fold(0, u64::saturating_add)
}

/// The bytes of code that the functions of a section describe, together with those of sections that a linker appended to it.
fn described(source: &SectionSource<'_>) -> u64 {
    let (mut sum, mut data) = (0_u64, source.data);
    while let Ok(section) = Section::parse(data, source.placement) {
        let sizes = section.entries().map(|entry| u64::from(entry.size()));
        sum = sizes.fold(sum, u64::saturating_add);
        // Each byte is in one table, so that the time is linear.
        let end = section.header().fre_end().max(section.header().fde_table_end());
        let rest = |at: u64| data.get(usize::try_from(at).ok()?..);
        let next = [end, end.next_multiple_of(8)].into_iter().filter_map(rest);
        let next = next.filter(|rest| Section::parse(rest, source.placement).is_ok());
        // A header has some bytes: the rest gets shorter.
        let Some(rest) = next.into_iter().find(|rest| rest.len() < data.len()) else { break };
        data = rest;
    }
    sum
}
