//! The functions of the C library's start files that SFrame does not describe. A static program has thousands of other
//! lost functions, so that a record may not list these.

use std::collections::BTreeSet;

use sframe_oracle::cfi::{CfiSource, RowContext};
use sframe_oracle::coverage::{Stubs, examine};
use sframe_record::{ElfType, Record};
use sframe_validator::elf::{Elf, SframeSection, SymbolTable};
use sframe_validator::unwind::CodeAddress;
use sframe_validator::{Section, Version};

use crate::start_code::StartFiles;

const RULE: &str = "unexplained-loss";

/// Where functions of start files begin, if the record has findings about lost functions.
pub(super) fn starts(record: &Record<'_>, elf: &Elf<'_>) -> BTreeSet<u64> {
    let is_needed = record.counts.iter().any(|count| count.rule.as_str() == RULE);
    let found = || {
        let symbols = SymbolTable::load(elf).ok()?;
        Some(StartFiles::of(elf)?.starts(&symbols))
    };
    if is_needed { found().unwrap_or_default() } else { BTreeSet::new() }
}

/// The number of functions of start files for which `unexplained-loss` is reported. It is not counted, and 0, if the record
/// lists all findings of the rule.
pub(super) fn lost(record: &Record<'_>, elf: &Elf<'_>, sections: &[SframeSection<'_>]) -> u64 {
    let of_rule = record.counts.iter().filter(|count| count.rule.as_str() == RULE);
    let counted = of_rule.fold(0, |sum: u64, count| sum.saturating_add(count.count));
    let listed = record.findings.iter().filter(|finding| finding.rule.as_str() == RULE).count();
    let is_linked = matches!(record.elf_type, Some(ElfType::Executable | ElfType::Shared));
    if !is_linked || counted <= listed as u64 {
        return 0;
    }
    count(elf, sections).unwrap_or(0)
}

fn count(elf: &Elf<'_>, sections: &[SframeSection<'_>]) -> Option<u64> {
    let (described, files) = (described(sections)?, StartFiles::of(elf)?);
    let symbols = SymbolTable::load(elf).ok()?;
    let (source, stubs) = (CfiSource::of(elf), Stubs::of(elf));
    let cfi = source.load_all().ok()?;
    let mut lost = 0;
    for cfi in &cfi {
        let mut context = RowContext::new(cfi);
        for function in cfi.functions().filter(|function| function.size() > 0) {
            let is_candidate = files.contain_with(function.start(), &symbols)
                && described.is_free(function.start(), function.size());
            let mut unexplained = || {
                let examined = examine(&stubs, &function, described.version, &mut context);
                examined.cause.is_none() && examined.error.is_none()
            };
            lost += u64::from(is_candidate && unexplained());
        }
    }
    Some(lost)
}

/// The code that sections describe.
struct Described {
    version: Version,
    /// The start of each function in ascending order, and the furthest end of all functions up to it.
    ranges: Vec<(u64, u64)>,
}

fn described(sections: &[SframeSection<'_>]) -> Option<Described> {
    let [section] = sections else { return None };
    let section = Section::parse(section.data.ok()?, section.placement().ok()?).ok()?;
    let mut ranges = Vec::new();
    for function in section.functions() {
        let entry = *function.ok()?.entry();
        let start = entry.start().ok()?.address;
        ranges.push((start, start.saturating_add(entry.size().into())));
    }
    ranges.sort_unstable();
    let mut furthest = 0;
    for (_, end) in &mut ranges {
        furthest = furthest.max(*end);
        *end = furthest;
    }
    Some(Described { version: section.header().version, ranges })
}

impl Described {
    /// Whether no function of the section has a byte of the code.
    fn is_free(&self, start: CodeAddress, size: u64) -> bool {
        let (start, end) = (start.address, start.address.saturating_add(size));
        let before = self.ranges.partition_point(|(first, _)| *first < end);
        let last = before.checked_sub(1).and_then(|place| self.ranges.get(place));
        last.is_none_or(|(_, furthest)| *furthest <= start)
    }
}
