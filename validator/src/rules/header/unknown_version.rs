use super::magic;
use crate::abi::Endian;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::{HEADER_SIZE, MAGIC, Version, field};
use crate::subject::PreambleContext;

pub(super) static RULE: Rule = Rule {
    name: "unknown-version",
    group: Group::Header,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the version is 1, 2 or 3",
        consequence: "Only the layout of the preamble is the same in every version, so nothing \
                      else in the section can be read.",
        remedy: "If there is such a version, use a newer reader; otherwise find out what wrote \
                 the section.",
        source: "V3 2.1.2",
        example: "a section of version 4",
    },
};

pub(super) fn check(first: &PreambleContext<'_>, report: &mut Reporter<'_>) {
    let endian = first.endian.unwrap_or(match first.data {
        [0xde, 0xe2, ..] => Endian::Big,
        _ => Endian::Little,
    });
    let readable = first.data.len() as u64 >= HEADER_SIZE;
    let known = first.data.get(2).copied().map(|number| (number, Version::from_number(number)));
    if let (true, Some(MAGIC), Some((number, None))) = (readable, magic(first.data, endian), known)
    {
        report.field(
            field::VERSION,
            number,
            "1, 2 or 3",
            format_args!("the section's version is {number}, which does not exist"),
        );
    }
}
