use super::controls;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::RowContext;

pub(super) static RULE: Rule = Rule {
    name: "flex-unused-register",
    group: Group::Content,
    severity: Severity::Warning,
    versions: Versions::V3,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "a control word without a base register has register number 0",
        consequence: "None: the number is used only if bit 0 is set. Perhaps that bit was \
                      forgotten.",
        remedy: "Write register 0, or set bit 0.",
        source: "V3 3.2 (\"effective only if reg_p is 1\")",
        example: "a flexible row whose FP control word is 0x32",
    },
};

pub(super) fn check(row: &RowContext<'_>, report: &mut Reporter<'_>) {
    for (name, index, control) in controls(row) {
        if !control.reg_p() && control.deref_p() && control.register().0 != 0 {
            report.field(
                row.word(index),
                format_args!("{:#x}", control.0),
                "register 0, or bit 0x1 set",
                format_args!(
                    "row {}'s control word for {name} names register {}, but does not use it",
                    row.index,
                    control.register().0
                ),
            );
        }
    }
}
