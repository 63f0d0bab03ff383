//! What readers are given, and what each case asks of them.

use std::ops::Range;

use sframe_validator::elf::Elf;
use sframe_validator::rules::{Rule, Severity};
use sframe_validator::section::Flags;
use sframe_validator::{Abi, Version};

use super::image::Image;
use super::{bombs, corpus, defects, sound, structure};

/// What a conforming reader does with a case, besides ending in time, within its memory and of its
/// own accord.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duty {
    /// Read it: the section is sound. A reader that refuses it does not know the version or the
    /// machine.
    Read,
    /// Refuse it: the format gives the bytes no reading, for what is needed lies outside the
    /// section, or has a code that the version does not define.
    Refuse,
    /// Either: the bytes can be read, whatever they are worth.
    Survive,
}

/// Where a case comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Sound sections of each version and machine.
    Sound,
    /// One broken rule: the files of `corpus/malformed`.
    Malformed,
    /// The same defects in sections of older versions.
    Defect,
    /// Sections and files that promise far more than they have.
    Bomb,
}

/// A file for readers.
#[derive(Clone, Debug)]
pub struct Case {
    /// Folder and name of the file, unique.
    pub name: String,
    /// Where it comes from.
    pub kind: Kind,
    /// The rule that it breaks, where it is about one.
    pub rule: Option<&'static Rule>,
    /// Of a bomb: why it has no reading, or what it promises, in one sentence.
    pub reason: Option<&'static str>,
    /// What readers have to do with it.
    pub duty: Duty,
    /// What the header says that the section is; `None` where it says nothing that is defined.
    pub format: Option<Format>,
    /// The file.
    pub bytes: Vec<u8>,
}

/// What a reader has to know in order to read a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// The version.
    pub version: Version,
    /// The machine.
    pub abi: Abi,
    /// Whether functions' starts count from the field that holds them, as always in version 3.
    pub pc_relative: bool,
}

impl Format {
    /// What the first bytes of a section say.
    pub(super) fn of(section: &[u8]) -> Option<Format> {
        let version = Version::from_number(*section.get(2)?)?;
        let flags = Flags(*section.get(3)?);
        let abi = Abi::from_id(*section.get(4)?)?;
        let pc_relative = match version {
            Version::V1 => false,
            Version::V2 => flags.pcrel(),
            Version::V3 => true,
        };
        Some(Format { version, abi, pc_relative })
    }
}

/// Where the functions of bare sections are.
const CODE: Range<u64> = 0x1000..0x4000_0000;

/// Every case, always in the same order.
#[must_use]
pub fn all() -> Vec<Case> {
    let mut cases = sound::cases();
    cases.extend(corpus::cases());
    cases.extend(defects::cases());
    cases.extend(bombs::cases());
    cases.extend(structure::cases());
    cases
}

/// The case of a section, in a file of its own.
pub(super) fn of_section(name: &str, kind: Kind, duty: Duty, section: &[u8]) -> Case {
    let format = Format::of(section);
    let bytes = wrapped(section, None);
    Case { name: format!("{name}.elf"), kind, rule: None, reason: None, duty, format, bytes }
}

/// A section alone as a file; `claimed_size` is what the section header says.
pub(super) fn wrapped(section: &[u8], claimed_size: Option<u64>) -> Vec<u8> {
    let format = Format::of(section);
    let abi = format.map_or(Abi::Amd64, |format| format.abi);
    let typed = format.is_none_or(|format| format.pc_relative);
    Image { abi, typed, code: CODE, section, claimed_size }.bytes()
}

/// The case of a file that breaks `rule`.
pub(super) fn of_rule(folder: &str, kind: Kind, rule: &'static Rule, data: &[u8]) -> Case {
    let (extension, format, bytes) = match data {
        elf if Elf::is_elf(elf) => ("elf", format_in(elf), elf.to_vec()),
        archive if archive.starts_with(b"!<arch>\n") => ("a", None, archive.to_vec()),
        section => ("elf", Format::of(section), wrapped(section, None)),
    };
    let name = format!("{folder}/{}.{extension}", rule.name);
    Case { name, kind, rule: Some(rule), reason: None, duty: duty(rule), format, bytes }
}

/// What the first section of an ELF file is.
fn format_in(data: &[u8]) -> Option<Format> {
    let elf = Elf::parse(data).ok()?;
    let section = elf.sframe_sections().next()?;
    Format::of(elf.section_data(section).ok()?)
}

/// Rules without which a section, or one of its functions, cannot be read.
const NO_READING: &[&str] = &[
    // No header, or not SFrame's.
    "section-truncated",
    "bad-magic",
    "unknown-version",
    "unknown-abi",
    // Parts outside the section.
    "auxiliary-header-outside",
    "function-table-outside",
    "rows-outside",
    "rows-offset-outside",
    "row-truncated",
    // Codes that are not defined.
    "fre-type",
    "fde-type",
    "word-size-reserved",
    // Control words that lead past the row's words.
    "flex-layout",
];

fn duty(rule: &Rule) -> Duty {
    debug_assert!(rule.severity == Severity::Error || !NO_READING.contains(&rule.name));
    if NO_READING.contains(&rule.name) { Duty::Refuse } else { Duty::Survive }
}
