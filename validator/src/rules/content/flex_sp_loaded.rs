use super::controls;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::RowContext;

pub(super) static RULE: Rule = Rule {
    name: "flex-sp-loaded",
    group: Group::Content,
    severity: Severity::Warning,
    versions: Versions::V3,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "a CFA that is loaded from memory is not loaded relative to SP",
        consequence: "Compilers store such a CFA at a fixed offset from a frame pointer. Its \
                      offset from SP changes with every push.",
        remedy: "Check the CFI of hand-written code.",
        source: "observed: GCC's realigned frames use *(rbp + n)",
        example: "an AMD64 flexible row that says CFA = *(SP + 8)",
    },
};

pub(super) fn check(row: &RowContext<'_>, report: &mut Reporter<'_>) {
    for (name, index, control) in controls(row) {
        let sp = control.register() == row.layout.abi.sp();
        if name == "CFA" && control.reg_p() && control.deref_p() && sp {
            report.field(
                row.word(index),
                format_args!("{:#x}", control.0),
                "a register other than SP",
                format_args!("row {} loads the CFA from memory relative to SP", row.index),
            );
        }
    }
}
