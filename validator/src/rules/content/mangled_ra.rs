use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::RowContext;

pub(super) static RULE: Rule = Rule {
    name: "mangled-ra",
    group: Group::Content,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::AMD64.or(Abis::S390X),
    about_tools: false,
    page: Page {
        summary: "no return address is marked as signed on machines without pointer authentication",
        consequence: "None known; the bit is for AArch64.",
        remedy: "Clear bit 7 of the info byte.",
        source: "V3 2.4.1",
        example: "an AMD64 row with info byte 0x83",
    },
};

pub(super) fn check(row: &RowContext<'_>, report: &mut Reporter<'_>) {
    if row.row.info.mangled_ra() {
        report.field(
            row.info(),
            format_args!("{:#04x}", row.row.info.0),
            "bit 0x80 clear",
            format_args!("row {} says that the return address is signed", row.index),
        );
    }
}
