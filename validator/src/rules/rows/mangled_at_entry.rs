use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::RowContext;

pub(super) static RULE: Rule = Rule {
    name: "mangled-at-entry",
    group: Group::Rows,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::AARCH64,
    about_tools: false,
    page: Page {
        summary: "at a function's entry, the return address is not signed yet",
        consequence: "A tracer strips a signature that is not there, or the function is part of \
                      another one.",
        remedy: "Check that the function is a cold part.",
        source: "AArch64's ELF ABI: paciasp is an instruction of the function",
        example: "an AArch64 function whose first row is marked as signed",
    },
};

pub(super) fn check(row: &RowContext<'_>, report: &mut Reporter<'_>) {
    if row.index == 0 && row.row.start == 0 && row.row.info.mangled_ra() {
        report.field(
            row.info(),
            format_args!("{:#04x}", row.row.info.0),
            "bit 0x80 clear",
            format_args!("the return address is marked as signed at the function's entry"),
        );
    }
}
