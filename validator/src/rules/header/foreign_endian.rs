use super::magic;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::{HEADER_SIZE, MAGIC, field};
use crate::subject::PreambleContext;

pub(super) static RULE: Rule = Rule {
    name: "foreign-endian",
    group: Group::Header,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the section has the byte order of its file",
        consequence: "glibc and the kernel refuse the section. libsframe swaps it, and all other \
                      readers read nonsense.",
        remedy: "Assemble for the byte order the file is linked for.",
        source: "V3 2.1 (\"the endianness of the target system\")",
        example: "a big-endian section in a little-endian file",
    },
};

pub(super) fn check(first: &PreambleContext<'_>, report: &mut Reporter<'_>) {
    let Some(endian) = first.endian else { return };
    let Some(magic) = magic(first.data, endian) else { return };
    if first.data.len() as u64 >= HEADER_SIZE && magic == MAGIC.swap_bytes() {
        report.field(
            field::MAGIC,
            format_args!("{magic:#06x}"),
            format_args!("{MAGIC:#06x}"),
            format_args!("the section's byte order is not that of the file"),
        );
    }
}
