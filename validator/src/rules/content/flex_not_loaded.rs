use super::controls;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::RowContext;

pub(super) static RULE: Rule = Rule {
    name: "flex-not-loaded",
    group: Group::Content,
    severity: Severity::Warning,
    versions: Versions::V3,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "RA and FP that are based on the CFA are loaded from memory",
        consequence: "The register would hold an address in the stack frame itself.",
        remedy: "Set bit 1 (deref_p) of the control word.",
        source: "V3 3.2 (the rule RA = CFA + 0 \"should not be needed for any ABI\")",
        example: "a flexible row whose FP control word is 0x30",
    },
};

pub(super) fn check(row: &RowContext<'_>, report: &mut Reporter<'_>) {
    for (name, index, control) in controls(row) {
        if name != "CFA" && !control.reg_p() && !control.deref_p() {
            report.field(
                row.word(index),
                format_args!("{:#x}", control.0),
                "bit 0x2 set",
                format_args!(
                    "row {} uses an address in the frame as the value of {name}",
                    row.index
                ),
            );
        }
    }
}
