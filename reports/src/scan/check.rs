//! What one worker does with one input.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use sframe_validator::Endian;
use sframe_validator::check::{Options, check_elf, check_link_set, check_section};
use sframe_validator::elf::{Class, Elf, ElfError, ElfKind};
use sframe_validator::finding::Report;
use sframe_validator::rules::Rule;

use super::compare::{self, Against};
use crate::input::archive::{self, Content, Member};
use crate::input::{FileBytes, Input, RawOptions, SectionSource, plain_error, sframe_sections};
use crate::printable::printable_path;
use crate::report::{Checked, Comparison, FileName, FileReport, Names, Outcome};

/// What to check, and what of it to report.
#[derive(Clone, Debug, Default)]
pub struct CheckOptions {
    /// The validator's options.
    pub validator: Options,
    /// Every file is one bare section.
    pub raw: Option<RawOptions>,
    /// Only findings of these rules; empty for all.
    pub only: Vec<&'static Rule>,
    /// No findings of these rules.
    pub ignore: Vec<&'static Rule>,
    /// What sections are compared with.
    pub against: Against,
    /// Tell the coverage of files without a section, too.
    pub coverage: bool,
    /// Name the functions that are examples of what files without a section could not describe. It
    /// takes reading the symbols of every file.
    pub named_examples: bool,
    /// Where separate debug files are looked for; nowhere, where this is empty.
    pub debug_dirs: Vec<PathBuf>,
}

impl CheckOptions {
    pub(super) fn wants(&self, rule: &'static Rule) -> bool {
        (self.only.is_empty() || self.only.contains(&rule)) && !self.ignore.contains(&rule)
    }

    fn select(&self, report: &mut Report) {
        report.findings.retain(|finding| self.wants(finding.rule));
        report.counts.retain(|(rule, _)| self.wants(rule));
    }
}

/// Checks an input: one report for a file, one for each member of an archive.
pub(super) fn check_input(input: Input, options: &CheckOptions) -> Vec<FileReport> {
    let (path, outcome) = match input {
        Input::File(path) => return check_file(path, options),
        Input::Special(path, kind) => (path, Outcome::Special(kind)),
        Input::Unreadable(path, error) => (path, Outcome::Unreadable(error)),
    };
    vec![FileReport { name: FileName { path, member: None }, outcome }]
}

fn check_file(path: PathBuf, options: &CheckOptions) -> Vec<FileReport> {
    let wanted = |head: &[u8]| {
        options.raw.is_some() || head.is_empty() || Elf::is_elf(head) || archive::is_archive(head)
    };
    let outcome = match FileBytes::open_if(&path, wanted) {
        Err(error) => Outcome::Unreadable(plain_error(&error)),
        Ok(None) => Outcome::NotElf,
        Ok(Some(data)) if options.raw.is_none() && archive::is_archive(&data) => {
            return check_archive(&path, &data, options);
        }
        Ok(Some(data)) => check_bytes(&path, &data, options),
    };
    vec![FileReport { name: FileName { path, member: None }, outcome }]
}

fn check_archive(path: &Path, data: &[u8], options: &CheckOptions) -> Vec<FileReport> {
    let members = match archive::members(path, data) {
        Ok(members) => members,
        Err(error) => {
            let name = FileName { path: path.to_owned(), member: None };
            return vec![FileReport { name, outcome: Outcome::Unreadable(error) }];
        }
    };
    let check = |member: Member<'_>| FileReport {
        name: FileName { path: path.to_owned(), member: Some(member.name) },
        outcome: match member.content {
            Content::Bytes(data) => check_bytes(path, data, options),
            Content::File(path) => check_thin_member(&path, options),
            Content::Damaged(error) => Outcome::Unreadable(error),
        },
    };
    let mut reports: Vec<FileReport> = members.into_par_iter().map(check).collect();
    reports.extend(check_members(path, &reports, options));
    reports
}

/// The members of an archive as inputs of one link; `None` where they match.
fn check_members(
    path: &Path,
    reports: &[FileReport],
    options: &CheckOptions,
) -> Option<FileReport> {
    let names: Vec<String> = reports.iter().map(|report| report.name.member_display()).collect();
    let mut inputs = Vec::new();
    for (report, name) in reports.iter().zip(&names) {
        let Outcome::Checked(checked) = &report.outcome else { continue };
        let header = checked.sections.iter().find_map(|section| section.header);
        inputs.extend(header.map(|header| (name.as_str(), header)));
    }
    let mut report = check_link_set(&inputs, &options.validator);
    options.select(&mut report);
    let outcome = Outcome::Members(Box::new(Checked::new(
        report,
        &[],
        &Names::of(None),
        Comparison::default(),
    )));
    let name = FileName { path: path.to_owned(), member: None };
    let found = matches!(&outcome, Outcome::Members(checked) if !checked.counts.is_empty());
    found.then_some(FileReport { name, outcome })
}

fn check_thin_member(path: &Path, options: &CheckOptions) -> Outcome {
    let unreadable =
        |error| Outcome::Unreadable(format!("{}: {}", printable_path(path), plain_error(&error)));
    match path.metadata() {
        Ok(metadata) if !metadata.is_file() => {
            Outcome::Unreadable(format!("{} is not a regular file", printable_path(path)))
        }
        Ok(_) => match FileBytes::open(path) {
            Ok(data) => check_bytes(path, &data, options),
            Err(error) => unreadable(error),
        },
        Err(error) => unreadable(error),
    }
}

fn check_bytes(path: &Path, data: &[u8], options: &CheckOptions) -> Outcome {
    if let Some(raw) = options.raw {
        let mut report = check_section(data, raw.placement(), &options.validator);
        options.select(&mut report);
        let source = SectionSource::bare(data, raw);
        let names = Names::of(None);
        let checked = Checked::new(report, &[source], &names, Comparison::default());
        return Outcome::Checked(Box::new(checked));
    }
    if data.is_empty() {
        return Outcome::Empty;
    }
    let elf = match Elf::parse(data) {
        Ok(elf) => elf,
        Err(ElfError::NotElf) => return Outcome::NotElf,
        Err(error) => return Outcome::Unreadable(format!("damaged ELF file: {error}")),
    };
    if let Some(kind) = unsupported(&elf) {
        return Outcome::Unsupported(kind);
    }
    let mut report = check_elf(&elf, &options.validator);
    let names = Names::of(Some(&elf));
    let compared = compare::is_wanted(&report, options);
    let sources: Vec<SectionSource<'_>> = if report.findings.is_empty() && !compared {
        Vec::new()
    } else {
        sframe_sections(&elf).filter_map(Result::ok).collect()
    };
    let comparison = if compared {
        compare::compare(path, &elf, &sources, &names, &mut report, options)
    } else {
        Comparison::default()
    };
    options.select(&mut report);
    Outcome::Checked(Box::new(Checked::new(report, &sources, &names, comparison)))
}

/// The kind of an ELF file that SFrame is not defined for. One that has a section all the same is
/// checked: that it should have none is a finding.
fn unsupported(elf: &Elf<'_>) -> Option<String> {
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
