use super::controls;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::RowContext;

pub(super) static RULE: Rule = Rule {
    name: "flex-control-reserved",
    group: Group::Content,
    severity: Severity::Warning,
    versions: Versions::V3,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "bit 2 of a control word is zero",
        consequence: "A later version may give it a meaning.",
        remedy: "Write 0.",
        source: "V3 3.2",
        example: "a flexible row whose first control word is 0x3d",
    },
};

pub(super) fn check(row: &RowContext<'_>, report: &mut Reporter<'_>) {
    for (name, index, control) in controls(row) {
        if control.0 & 4 != 0 {
            report.field(
                row.word(index),
                format_args!("{:#x}", control.0),
                "bit 0x4 clear",
                format_args!("row {}'s control word for {name} has its unused bit set", row.index),
            );
        }
    }
}
