use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::RowContext;

pub(super) static RULE: Rule = Rule {
    name: "flex-base-bit",
    group: Group::Content,
    severity: Severity::Lint,
    versions: Versions::V3,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "bit 0 of a flexible row's info byte is 0",
        consequence: "None: the control word names the base register.",
        remedy: "Write 0.",
        source: "observed: GNU as 2.47",
        example: "a flexible row with info byte 0x05",
    },
};

pub(super) fn check(row: &RowContext<'_>, report: &mut Reporter<'_>) {
    let info = row.row.info;
    if row.layout.flexible && info.base_is_sp() {
        report.field(
            row.info(),
            format_args!("{:#04x}", info.0),
            "bit 0x01 clear",
            format_args!("flexible row {} has the base bit of default rows set", row.index),
        );
    }
}
