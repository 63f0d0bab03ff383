//! The section's first bytes, before they are known to be a header.

use super::context::Check;
use super::{Abis, Group, Rule, Severity, Versions};
use crate::abi::Endian;
use crate::section::{HEADER_SIZE, MAGIC, Version, field};

/// The magic number in a byte order, where there are bytes enough.
fn magic(data: &[u8], endian: Endian) -> Option<u16> {
    let bytes = data.first_chunk::<2>()?;
    Some(match endian {
        Endian::Little => u16::from_le_bytes(*bytes),
        Endian::Big => u16::from_be_bytes(*bytes),
    })
}

pub(super) static SECTION_EMPTY: Rule = Rule {
    name: "section-empty",
    group: Group::Header,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the section is not empty",
    consequence: "Readers that look for a header in 0 bytes read past the end or fail.",
    remedy: "Leave the section out where there is nothing to say.",
    source: "observed: ld -r of an object without functions (glibc's Scrt1.o), mold issue 1646",
    example: "a section of 0 bytes",
    check: Check::Preamble(|first, report| {
        if first.data.is_empty() {
            report.file(format_args!("the section is empty, not even a header is there"));
        }
    }),
};

pub(super) static SECTION_TRUNCATED: Rule = Rule {
    name: "section-truncated",
    group: Group::Header,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the section holds a whole header, 28 bytes",
    consequence: "A reader that casts the section to a header reads past its end.",
    remedy: "Find out what cut the section; a header without functions takes 28 bytes.",
    source: "V3 2.2",
    example: "the first 27 bytes of a section",
    check: Check::Preamble(|first, report| {
        let size = first.data.len() as u64;
        if size > 0 && size < HEADER_SIZE {
            report.bytes(
                0..size,
                format_args!("the section has {size} bytes, a header takes {HEADER_SIZE}"),
            );
        }
    }),
};

pub(super) static BAD_MAGIC: Rule = Rule {
    name: "bad-magic",
    group: Group::Header,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the section starts with the magic number 0xdee2",
    consequence: "No reader takes the section for SFrame.",
    remedy: "Find out what overwrote or misplaced the section.",
    source: "V3 2.1.1",
    example: "a section that starts with 0xdee3",
    check: Check::Preamble(|first, report| {
        let endian = first.endian.unwrap_or(Endian::Little);
        let Some(magic) = magic(first.data, endian) else { return };
        if first.data.len() as u64 >= HEADER_SIZE && magic != MAGIC && magic != MAGIC.swap_bytes() {
            report.field(
                field::MAGIC,
                format_args!("{magic:#06x}"),
                format_args!("{MAGIC:#06x}"),
                format_args!("the magic number is {magic:#06x}, not {MAGIC:#06x}"),
            );
        }
    }),
};

pub(super) static FOREIGN_ENDIAN: Rule = Rule {
    name: "foreign-endian",
    group: Group::Header,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the section has the byte order of its file",
    consequence: "glibc and the kernel refuse the section; libsframe swaps it, and everybody else \
                  reads nonsense.",
    remedy: "Assemble for the byte order the file is linked for.",
    source: "V3 2.1 (\"the endianness of the target system\")",
    example: "a big-endian section in a little-endian file",
    check: Check::Preamble(|first, report| {
        let Some(endian) = first.endian else { return };
        let Some(magic) = magic(first.data, endian) else { return };
        if first.data.len() as u64 >= HEADER_SIZE && magic == MAGIC.swap_bytes() {
            report.field(
                field::MAGIC,
                format_args!("{magic:#06x}"),
                format_args!("{MAGIC:#06x}"),
                format_args!("the section has the other byte order than the file"),
            );
        }
    }),
};

pub(super) static UNKNOWN_VERSION: Rule = Rule {
    name: "unknown-version",
    group: Group::Header,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the version is 1, 2 or 3",
    consequence: "Only the preamble has a layout that every version shares: nothing else of the \
                  section can be read.",
    remedy: "Use a newer reader, if there is such a version; otherwise find out what wrote it.",
    source: "V3 2.1.2",
    example: "a section of version 4",
    check: Check::Preamble(|first, report| {
        let endian = first.endian.unwrap_or(match first.data {
            [0xde, 0xe2, ..] => Endian::Big,
            _ => Endian::Little,
        });
        let readable = first.data.len() as u64 >= HEADER_SIZE;
        let known = first.data.get(2).copied().map(|number| (number, Version::from_number(number)));
        if let (true, Some(MAGIC), Some((number, None))) =
            (readable, magic(first.data, endian), known)
        {
            report.field(
                field::VERSION,
                number,
                "1, 2 or 3",
                format_args!("the section says it is of version {number}, which does not exist"),
            );
        }
    }),
};
