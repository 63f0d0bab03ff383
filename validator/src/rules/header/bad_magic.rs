use super::magic;
use crate::abi::Endian;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::{HEADER_SIZE, MAGIC, field};
use crate::subject::PreambleContext;

pub(super) static RULE: Rule = Rule {
    name: "bad-magic",
    group: Group::Header,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the section starts with the magic number 0xdee2",
        consequence: "No reader recognises the section as SFrame.",
        remedy: "Find out what overwrote or misplaced the section.",
        source: "V3 2.1.1",
        example: "a section that starts with 0xdee3",
    },
};

pub(super) fn check(first: &PreambleContext<'_>, report: &mut Reporter<'_>) {
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
}
