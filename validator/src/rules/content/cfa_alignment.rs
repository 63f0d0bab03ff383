use super::sp_based;
use crate::abi::Abi;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::RowContext;

pub(super) static RULE: Rule = Rule {
    name: "cfa-alignment",
    group: Group::Content,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::AMD64.or(Abis::AARCH64),
    about_tools: false,
    page: Page {
        summary: "an SP-based CFA offset is a multiple of 8 on AMD64, of 16 on AArch64",
        consequence: "Either the stack pointer is not aligned as the ABI requires, or the offset \
                      is wrong, and with it every frame from here on.",
        remedy: "Check the CFI of hand-written code.",
        source: "the machines' ELF ABIs",
        example: "an AMD64 row that says CFA = SP + 12",
    },
};

pub(super) fn check(row: &RowContext<'_>, report: &mut Reporter<'_>) {
    let unit = if row.layout.abi == Abi::Amd64 { 8 } else { 16 };
    let Some(offset) = sp_based(row).filter(|offset| offset % unit != 0) else { return };
    report.field(
        row.word(usize::from(row.layout.flexible)),
        offset,
        format_args!("a multiple of {unit}"),
        format_args!("row {} says CFA = SP{offset:+}", row.index),
    );
}
