//! Reports every finding of a file.
//!
//! A check keeps the first findings of each rule. If all findings are requested and a file has more, the file is checked
//! a second time. Thousands of findings are collected in a record; millions are handed over one by one.

use std::path::Path;

use sframe_validator::check::{Options, check_section_each};
use sframe_validator::elf::Elf;
use sframe_validator::finding::{self, Keep};

use super::compare;
use super::elf_file::ElfFile;
use super::file::{check_elf_file, check_raw};
use super::options::CheckOptions;
use super::piece::{Found, Piece};
use crate::record::{Gathered, Located, Names};
use sframe_defects::Evidence;
use sframe_input::SectionSource;
use sframe_record::{Finding, Record};

/// The maximum number of findings in a record, which are sorted by place. If there are more, they are reported in the
/// order of the check.
const MOST_HELD: u64 = 10_000;
/// The number of findings that are handed over at a time.
const AT_A_TIME: usize = 256;

/// Hands over `record` of the file with the bytes `data`, with every finding. `path` is where the file is installed.
/// Returns whether `data` was read for that.
pub(super) fn hand_over(
    mut record: Record<'static>,
    path: &Path,
    data: &[u8],
    options: &CheckOptions,
    found: Found<'_>,
) -> bool {
    let validator = Options { keep: Keep::All, ..options.validator };
    let options = &CheckOptions { validator, ..options.clone() };
    if number(&record).is_some_and(|number| number <= MOST_HELD) {
        let has_findings = !record.findings.is_empty();
        if has_findings && let Some(all) = all(path, data, options) {
            // More findings are recognised as cases of known defects, so that the counts are divided differently.
            record = Record { findings: all.findings, counts: all.counts, ..record };
        }
        found(record.into());
        return has_findings;
    }
    record.findings.clear();
    let file = record.clone();
    found(Piece::Start(record));
    let mut some = Vec::new();
    let evidence = evidence(&file, data, options);
    each(path, data, &file.sections, options, &mut |mut finding| {
        evidence.recognise_one(&file, &mut finding);
        // The counts were made before.
        if !file.counts.iter().any(|count| count.known == finding.known) {
            finding.known = None;
        }
        some.push(finding);
        if some.len() == AT_A_TIME {
            found(Piece::Findings(std::mem::take(&mut some)));
        }
    });
    found(Piece::Findings(some));
    found(Piece::End);
    true
}

/// What the file shows besides its record.
fn evidence(record: &Record<'_>, data: &[u8], options: &CheckOptions) -> Evidence {
    match Elf::parse(data) {
        Ok(elf) if options.raw.is_none() => {
            Evidence::of(record, &elf, &elf.sframe_contents().collect::<Vec<_>>())
        }
        _ => Evidence::default(),
    }
}

/// The maximum number of findings of the file; `None` if its record does not reveal it.
///
/// Differences are counted once per function, but listed once per range of PCs. The number of ranges is known for the
/// patterns that were kept.
fn number(record: &Record<'_>) -> Option<u64> {
    let mut number = 0_u64;
    for count in &record.counts {
        number = number.saturating_add(count.count);
        let of_rule = || record.findings.iter().filter(|finding| finding.rule == count.rule);
        let mut known = 0_u64;
        for (finding, difference) in of_rule().filter_map(|of| Some((of, of.difference.as_ref()?)))
        {
            known = known.saturating_add(finding.weight());
            number = number.saturating_add(difference.similar.map_or(0, |others| others.ranges));
        }
        if known > 0 && known < count.count {
            return None;
        }
    }
    Some(number)
}

/// The record of the file with all its findings.
fn all(path: &Path, data: &[u8], options: &CheckOptions) -> Option<Record<'static>> {
    match options.raw {
        Some(raw) => Some(check_raw(data, raw, options)),
        None => Elf::parse(data).ok().map(|elf| check_elf_file(path, &elf, options)),
    }
}

/// Checks the file again, and hands each finding to `found`. `sections` are those of its record.
fn each(
    path: &Path,
    data: &[u8],
    sections: &[sframe_record::Section<'_>],
    options: &CheckOptions,
    found: &mut dyn FnMut(Finding<'static>),
) {
    let mut wanted =
        |located: &mut Located<'_, '_, '_>, finding: finding::Finding, difference: Gathered| {
            if options.wants(finding.rule) && !options.is_stopped() {
                found(located.record(finding, difference));
            }
        };
    if let Some(raw) = options.raw {
        let (sources, names) = ([SectionSource::bare(data, raw)], Names::of(None));
        let mut located = Located::new(sections, &sources, &names);
        let mut take = |finding| wanted(&mut located, finding, Gathered::default());
        check_section_each(data, raw.placement(), &options.validator, &mut take);
    } else if let Ok(elf) = Elf::parse(data) {
        ElfFile::read(path, &elf, |file| {
            let mut located = Located::new(sections, file.sources, file.names);
            let mut take = |finding, difference| wanted(&mut located, finding, difference);
            compare::each_finding(file, options, &mut take);
        });
    }
}
