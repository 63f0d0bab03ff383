//! The file of a case, from a section or from the bytes of another file.

use std::ops::Range;

use sframe_validator::Abi;
use sframe_validator::elf::Elf;
use sframe_validator::rules::Rule;
use sframe_validator::write::elf::{Image, claims};

use crate::torture::case::{Case, Duty, Format, Kind};

/// Addresses of the functions that sections without a file describe.
const CODE: Range<u64> = 0x1000..0x4000_0000;

/// The case of a section, in a file of its own.
pub(super) fn of_section(name: &str, kind: Kind, duty: Duty, section: &[u8]) -> Option<Case> {
    let format = Format::of(section);
    let bytes = wrapped(section, None)?;
    Some(Case { name: format!("{name}.elf"), kind, rule: None, reason: None, duty, format, bytes })
}

/// A file with nothing but a section; `claimed_size` replaces its size in the section header.
pub(super) fn wrapped(section: &[u8], claimed_size: Option<u64>) -> Option<Vec<u8>> {
    let format = Format::of(section);
    let abi = format.map_or(Abi::Amd64, |format| format.abi);
    let typed = format.is_none_or(|format| format.pc_relative);
    let image = Image { abi, code: CODE, sframe: (section, 0), typed, eh_frame: None };
    let mut file = image.bytes().ok()?;
    if let Some(size) = claimed_size {
        claims::section(&mut file, Image::SFRAME, |header| header.size = size)?;
    }
    Some(file)
}

/// The case of a section, an ELF file or an archive that breaks `rule`.
pub(super) fn of_rule(folder: &str, kind: Kind, rule: &'static Rule, data: &[u8]) -> Option<Case> {
    let (extension, format, bytes) = match data {
        elf if Elf::is_elf(elf) => ("elf", format_in(elf), elf.to_vec()),
        archive if archive.starts_with(b"!<arch>\n") => ("a", None, archive.to_vec()),
        section => ("elf", Format::of(section), wrapped(section, None)?),
    };
    let name = format!("{folder}/{}.{extension}", rule.name);
    let duty = Duty::on_breach(rule);
    Some(Case { name, kind, rule: Some(rule), reason: None, duty, format, bytes })
}

/// The format of the first section in an ELF file.
fn format_in(data: &[u8]) -> Option<Format> {
    let elf = Elf::parse(data).ok()?;
    let section = elf.sframe_sections().next()?;
    Format::of(elf.section_data(section).ok()?)
}
