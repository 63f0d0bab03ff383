use super::controls;
use crate::abi::Abi;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::RowContext;

pub(super) static RULE: Rule = Rule {
    name: "flex-register",
    group: Group::Content,
    severity: Severity::Error,
    versions: Versions::V3,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "a control word names a register that the machine has",
        consequence: "There is no such register, so the frame cannot be recovered.",
        remedy: "Use the machine's DWARF numbers: AMD64 0 to 15 and 130 to 145, the others 0 to \
                 31.",
        source: "the machines' ELF ABIs, register number mapping",
        example: "an AMD64 flexible row whose CFA is based on register 16, the return address \
                  column",
    },
};

pub(super) fn check(row: &RowContext<'_>, report: &mut Reporter<'_>) {
    let amd64 = row.layout.abi == Abi::Amd64;
    for (name, index, control) in controls(row) {
        let register = control.register().0;
        // AMD64 numbers APX's r16 to r31 from 130 (System V ABI, figure 3.36).
        let exists = match register {
            0..=15 => true,
            130..=145 => amd64,
            16..=31 => !amd64,
            _ => false,
        };
        if control.reg_p() && !exists {
            report.field(
                row.word(index),
                format_args!("{:#x} (register {register})", control.0),
                if amd64 { "register 0 to 15, 130 to 145" } else { "register 0 to 31" },
                format_args!(
                    "row {} bases {name} on register {register}, which {} does not have",
                    row.index, row.layout.abi
                ),
            );
        }
    }
}
