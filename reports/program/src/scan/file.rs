//! Checks the bytes of one file.

use std::path::Path;

use sframe_validator::Endian;
use sframe_validator::check::{Unconfirmed, check_contents, check_section};
use sframe_validator::elf::{Class, Elf, ElfKind};

use super::compare;
use super::elf_file::ElfFile;
use super::forecast;
use super::options::CheckOptions;
use super::readings;
use crate::record::{Comparison, Names, checked, elf_type, producers, source_lines};
use sframe_defects::Evidence;
use sframe_input::{RawOptions, SectionSource};
use sframe_oracle::debug_file::build_id;
use sframe_oracle::rules::SECTION_MISSING;
use sframe_record::json::hex;
use sframe_record::numbers::counted;
use sframe_record::{Address, Finding, Record, RuleCount, Status, Text};

/// Checks a bare section.
pub(super) fn check_raw(data: &[u8], raw: RawOptions, options: &CheckOptions) -> Record<'static> {
    let mut report = check_section(data, raw.placement(), &options.validator);
    options.select(&mut report);
    let (source, names) = (SectionSource::bare(data, raw), Names::of(None));
    let readings = readings::of_raw(&source, &names, options);
    let record = checked(report, &[source], &names, Comparison::default());
    Record { readings, ..record }
}

/// Checks the ELF file that is installed at `path`, and compares it with its CFI.
pub(super) fn check_elf_file(
    path: &Path,
    elf: &Elf<'_>,
    options: &CheckOptions,
) -> Record<'static> {
    ElfFile::read(path, elf, |file| {
        let (mut report, comparison) = if compare::is_wanted(elf, options) {
            compare::check_and_compare(file, options)
        } else {
            let report = check_contents(elf, file.contents, &options.validator, &Unconfirmed);
            (report, Comparison::default())
        };
        options.select(&mut report);
        let mut record = checked(report, file.sources, file.names, comparison);
        record.forecast = forecast::of_file(file, options).map(Box::new);
        record.readings = readings::of_file(file, options);
        if record.status == Status::NoSection {
            record.functions_without_section = forecast::functions_with_cfi(elf);
        }
        // Known defects are those of certain producers.
        if options.producers || !record.findings.is_empty() {
            record.producers = producers(elf);
        }
        if options.require_section && record.status == Status::NoSection && record.code_bytes > 0 {
            add_missing_section(&mut record, options);
        }
        if record.status == Status::Checked || !record.counts.is_empty() {
            record.elf_type = Some(elf_type(elf));
            record.entry = Some(elf.entry()).filter(|entry| *entry != 0).map(Address);
            record.build_id = build_id(elf).map(|id| hex(id).into());
            Evidence::of(&record, elf, file.contents).recognise(&mut record);
            source_lines::add(&mut record, elf);
        }
        record
    })
}

/// Reports that the file has no SFrame section.
fn add_missing_section(record: &mut Record<'static>, options: &CheckOptions) {
    if !options.wants(SECTION_MISSING) {
        return;
    }
    let code = counted(record.code_bytes, "byte");
    let message = format!("the file has {code} of code and no SFrame section");
    let severity = SECTION_MISSING.severity.into();
    let rule = Text::from(SECTION_MISSING.name);
    record.counts.push(RuleCount { rule: rule.clone(), severity, count: 1, files: 1, known: None });
    record.findings.push(Finding::about_file(
        rule,
        severity,
        SECTION_MISSING.group.name(),
        message,
    ));
}

/// The kind of an ELF file for which SFrame is not defined; `None` if it is defined. A file that nevertheless has a
/// section is checked: a rule reports that it must not have one.
pub(super) fn unsupported(elf: &Elf<'_>) -> Option<String> {
    if elf.sframe_sections().next().is_some() {
        return None;
    }
    if elf.kind() == ElfKind::Other(4) {
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
