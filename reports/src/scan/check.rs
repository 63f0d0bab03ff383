//! What one worker does with one input.

use std::fs::File;
#[cfg(feature = "packages")]
use std::io::Seek;
use std::io::{self, Read};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use sframe_validator::Endian;
use sframe_validator::check::{Options, check_elf, check_link_set, check_section};
use sframe_validator::elf::{Class, Elf, ElfError, ElfKind};
use sframe_validator::finding::Report;
use sframe_validator::rules::Rule;

use super::compare::{self, Against};
#[cfg(feature = "packages")]
use super::package;
use crate::input::archive::{self, Content, Member};
use crate::input::kind::{HEAD, Kind};
#[cfg(feature = "packages")]
use crate::input::package::Limits;
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
    /// What unpacking may cost.
    #[cfg(feature = "packages")]
    pub limits: Limits,
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

/// Checks an input: one report for a file, one for each member of an archive or package.
pub(crate) fn check_input(input: Input, options: &CheckOptions) -> Vec<FileReport> {
    let (path, outcome) = match input {
        Input::File(path) => return check_guarded(path, options),
        Input::Special(path, kind) => (path, Outcome::Special(kind)),
        Input::Unreadable(path, error) => (path, Outcome::Unreadable(error)),
    };
    vec![FileReport { name: FileName::file(path), outcome }]
}

/// A defect of this program must not cost more than the file that shows it.
fn check_guarded(path: PathBuf, options: &CheckOptions) -> Vec<FileReport> {
    let name = FileName::file(path.clone());
    // What a panic leaves behind is this input's own; the room for members starts anew.
    panic::catch_unwind(AssertUnwindSafe(|| check_file(path, options))).unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<&str>().map(ToString::to_string);
        let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
        let outcome = Outcome::Crashed(match message {
            Some(message) => format!("its checker panicked: {message}"),
            None => "its checker panicked".to_owned(),
        });
        vec![FileReport { name, outcome }]
    })
}

fn check_file(path: PathBuf, options: &CheckOptions) -> Vec<FileReport> {
    let name = FileName::file(path);
    try_file(&name, options).unwrap_or_else(|error| {
        let outcome = Outcome::Unreadable(plain_error(&error));
        vec![FileReport { name, outcome }]
    })
}

/// Most of a distribution's files are of no interest, and mapping them costs more than everything
/// else that is done with them: their first bytes decide.
fn try_file(name: &FileName, options: &CheckOptions) -> io::Result<Vec<FileReport>> {
    let mut file = File::open(&name.path)?;
    let kind = match options.raw {
        Some(_) => Kind::Elf,
        None => {
            let mut head = [0; HEAD];
            let length = file.read(&mut head)?;
            Kind::of(head.get(..length).unwrap_or_default())
        }
    };
    let outcome = match kind {
        Kind::Elf => check_bytes(name, &FileBytes::of(&file)?, options),
        Kind::Archive => return Ok(check_archive(name, &FileBytes::of(&file)?, options)),
        #[cfg(feature = "packages")]
        Kind::Package(_) if options.limits.depth > 0 => {
            file.rewind()?;
            return Ok(package::check(name, &file, options));
        }
        Kind::Empty => Outcome::Empty,
        Kind::Package(_) | Kind::Other => Outcome::NotElf,
    };
    Ok(vec![FileReport { name: name.clone(), outcome }])
}

/// Checks the members of the archive called `name`, of which `data` are the bytes.
pub(super) fn check_archive(
    name: &FileName,
    data: &[u8],
    options: &CheckOptions,
) -> Vec<FileReport> {
    let members = match archive::members(&name.path, data) {
        Ok(members) => members,
        Err(error) => {
            return vec![FileReport { name: name.clone(), outcome: Outcome::Unreadable(error) }];
        }
    };
    let check = |member: Member<'_>| {
        let name = name.member_of(member.name);
        let outcome = match member.content {
            Content::Bytes(data) => check_bytes(&name, data, options),
            Content::File(_) if name.inside.is_some() => {
                let reason = "a thin archive in a package: its members are elsewhere";
                Outcome::Unreadable(reason.to_owned())
            }
            Content::File(path) => check_thin_member(&path, options),
            Content::Damaged(error) => Outcome::Unreadable(error),
        };
        FileReport { name, outcome }
    };
    let mut reports: Vec<FileReport> = members.into_par_iter().map(check).collect();
    reports.extend(check_members(name, &reports, options));
    reports
}

/// The members of an archive as inputs of one link; `None` where they match.
fn check_members(
    name: &FileName,
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
    let found = matches!(&outcome, Outcome::Members(checked) if !checked.counts.is_empty());
    found.then(|| FileReport { name: name.clone(), outcome })
}

fn check_thin_member(path: &Path, options: &CheckOptions) -> Outcome {
    let unreadable =
        |error| Outcome::Unreadable(format!("{}: {}", printable_path(path), plain_error(&error)));
    match path.metadata() {
        Ok(metadata) if !metadata.is_file() => {
            Outcome::Unreadable(format!("{} is not a regular file", printable_path(path)))
        }
        Ok(_) => match FileBytes::open(path) {
            Ok(data) => check_bytes(&FileName::file(path.to_owned()), &data, options),
            Err(error) => unreadable(error),
        },
        Err(error) => unreadable(error),
    }
}

/// Checks the file called `name`, of which `data` are the bytes.
pub(super) fn check_bytes(name: &FileName, data: &[u8], options: &CheckOptions) -> Outcome {
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
        compare::compare(&name.installed(), &elf, &sources, &names, &mut report, options)
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
