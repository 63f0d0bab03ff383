//! Checks the bytes of one file.

use std::cell::OnceCell;
use std::path::Path;

use sframe_validator::Endian;
use sframe_validator::check::{Checker, Unconfirmed};
use sframe_validator::elf::{Class, Elf, ElfKind};
use sframe_validator::finding;

use super::compare;
use super::elf_file::ElfFile;
use super::forecast;
use super::held::{Collected, Held};
use super::options::CheckOptions;
use super::readings;
use super::traits;
use super::useless;
use super::verdict::Checked;
use crate::describe::origin::Origins;
use crate::describe::source_lines::Debugging;
use crate::describe::{
    Comparison, Gathered, Located, Names, checked, elf_type, producers, source_lines,
};
use sframe_defects::Evidence;
use sframe_input::{RawOptions, SectionSource};
use sframe_oracle::compare::Sums;
use sframe_oracle::debug_file::build_id;
use sframe_oracle::rules::{SECTION_MISSING, USELESS_SECTION};
use sframe_record::json::hex;
use sframe_record::numbers::counted;
use sframe_record::{Address, Finding, Record, RuleCount, Status};

/// Checks a bare section.
pub(super) fn check_raw(data: &[u8], raw: RawOptions, options: &CheckOptions) -> Checked {
    let (source, names) = ([SectionSource::bare(data, raw)], Names::of(None));
    let mut held = Held::default();
    let mut located = Located::new([(None, 0)].into_iter(), &source, &names);
    let mut found = |finding: finding::Finding| {
        if options.wants(finding.rule) {
            held.push(located.record(finding, Gathered::default()));
        }
    };
    let checker = Checker::new(&options.validator);
    let checker = if raw.linked { checker.linked() } else { checker };
    let placement = raw.placement().with_red_zone(!options.no_red_zone);
    let mut report = checker.section_each(data, placement, &mut found);
    held.sort();
    report.counts.retain(|(rule, _)| options.wants(rule));
    let [only] = &source;
    let readings = readings::of_raw(only, &names, options);
    let record = checked(report, &source, &names, Comparison::default());
    with_findings(Record { readings, ..record }, held)
}

/// Checks the ELF file that is installed at `path`, and compares it with its CFI.
pub(super) fn check_elf_file(path: &Path, elf: &Elf<'_>, options: &CheckOptions) -> Checked {
    ElfFile::read(path, elf, |file| {
        let mut held = Held::default();
        let (mut report, comparison) = if compare::is_wanted(elf, options) {
            compare::check_and_compare(file, options, &mut held)
        } else {
            (compare::check(file, options, &Unconfirmed, &mut held), Comparison::default())
        };
        options.select(&mut report);
        let sums = comparison.sums;
        let sections = OnceCell::new();
        let debugging = Debugging::of(elf, &sections);
        let record = checked(report, file.sources, file.names, comparison);
        let mut checked = with_findings(record, held);
        let record = &mut checked.record;
        record.forecast = forecast::of_file(file, options).map(Box::new);
        record.readings = readings::of_file(file, options);
        if record.status == Status::NoSection {
            record.functions_without_section = forecast::functions_with_cfi(elf);
            record.has_orc = elf.sections().iter().any(|of| of.name.bytes() == b".orc_unwind");
        }
        // Known defects are those of certain producers.
        if options.producers || !record.counts.is_empty() {
            record.producers = producers(elf);
        }
        if options.require_section && record.status == Status::NoSection && record.code_bytes > 0 {
            add_missing_section(record, options);
        }
        if record.status == Status::Checked || !record.counts.is_empty() {
            record.elf_type = Some(elf_type(elf));
            record.entry = Some(elf.entry()).filter(|entry| *entry != 0).map(Address);
            record.build_id = build_id(elf).map(|id| hex(id).into());
            recognise(&mut checked, file, &Origins::new(elf, &debugging), sums.as_ref(), options);
        }
        source_lines::add(&mut checked.record, &debugging);
        checked
    })
}

fn with_findings(mut record: Record<'static>, held: Held) -> Checked {
    match held.finish() {
        Collected::InMemory(findings) => {
            record.findings = findings;
            record.into()
        }
        Collected::Spilled(spilled) => Checked { record, spilled: Some(spilled) },
    }
}

/// Names the known defects that the findings of a file are cases of, and splits their counts. Reports a section that is
/// useless because of them, and removes what nobody asked for.
fn recognise(
    checked: &mut Checked,
    file: &ElfFile<'_>,
    origins: &Origins<'_, '_>,
    sums: Option<&Sums>,
    options: &CheckOptions,
) {
    let Checked { record, spilled } = checked;
    let mut evidence = Evidence::of(record, file.elf, file.contents);
    let mut found = std::mem::take(&mut record.findings);
    found.iter_mut().for_each(|finding| origins.add(record, finding));
    record.findings = found;
    if let Some(traits) = traits::find(record, file, origins, options) {
        evidence = evidence.with_traits(traits);
    }
    let useless = |record: &Record<'_>| {
        let sums = sums.filter(|_| options.checks(USELESS_SECTION))?;
        evidence.useless(record, || useless::found(file, sums))
    };
    let Some(findings) = spilled else {
        evidence.recognise(record);
        let useless = useless(record);
        record.counts.retain(|count| options.wants_name(&count.rule));
        record.findings.retain(|finding| options.wants_name(&finding.rule));
        return useless.into_iter().for_each(|finding| report(record, finding));
    };
    let (mut recogniser, mut held) = (evidence.recogniser(), Held::default());
    let read = findings.each(&mut |some| {
        for mut finding in some {
            origins.add(record, &mut finding);
            recogniser.finding(record, &mut finding);
            if options.wants_name(&finding.rule) {
                held.push(finding);
            }
        }
    });
    record.counts = recogniser.counts(record);
    let useless = useless(record);
    record.counts.retain(|count| options.wants_name(&count.rule));
    if let Some(finding) = useless {
        record.counts.push(count_of(&finding));
        held.push(finding);
    }
    if let (Ok(()), Collected::Spilled(recognised)) = (read, held.finish()) {
        *findings = recognised;
    }
}

/// Reports that the file has no SFrame section.
fn add_missing_section(record: &mut Record<'static>, options: &CheckOptions) {
    if !options.wants(SECTION_MISSING) {
        return;
    }
    let code = counted(record.code_bytes, "byte");
    let message = format!("the file has {code} of code and no SFrame section");
    let (rule, severity) = (SECTION_MISSING.name.into(), SECTION_MISSING.severity.into());
    let group = SECTION_MISSING.group.name();
    report(record, Finding::about_file(rule, severity, group, message));
}

/// Adds a finding about the file, and counts it.
fn report(record: &mut Record<'static>, finding: Finding<'static>) {
    record.counts.push(count_of(&finding));
    record.findings.push(finding);
}

fn count_of(finding: &Finding<'static>) -> RuleCount<'static> {
    let (rule, severity) = (finding.rule.clone(), finding.severity);
    RuleCount { rule, severity, count: 1, files: 1, known: None }
}

/// The kind of an ELF file for which SFrame is not defined; `None` if it is defined. A file that nevertheless has a
/// section is checked: a rule reports that it must not have one.
pub(super) fn unsupported(elf: &Elf<'_>) -> Option<String> {
    if elf.sframe_sections().next().is_some() {
        return None;
    }
    if elf.kind() == ElfKind::Core {
        return Some("core file".to_owned());
    }
    if elf.class() == Class::Elf64 && elf.abi().is_some() {
        return None;
    }
    let bits = match elf.class() {
        Class::Elf32 => 32,
        Class::Elf64 => 64,
    };
    Some(format!("{bits}-bit {}", machine_name(elf)))
}

fn machine_name(elf: &Elf<'_>) -> String {
    let name = match elf.machine() {
        2 | 18 | 43 => "SPARC",
        3 => "x86",
        8 => "MIPS",
        20 | 21 => "PowerPC",
        22 => "s390",
        40 => "Arm",
        50 => "Itanium",
        62 => "x86-64",
        183 => "AArch64",
        243 => "RISC-V",
        247 => "BPF",
        258 => "LoongArch",
        other => return format!("machine {other}"),
    };
    match elf.endian() {
        Endian::Big if matches!(elf.machine(), 62 | 183) => format!("big-endian {name}"),
        Endian::Little if elf.machine() == 22 => format!("little-endian {name}"),
        Endian::Little | Endian::Big => name.to_owned(),
    }
}
