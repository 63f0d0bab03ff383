use super::slots;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::RowContext;
use crate::unwind::Cfa;

pub(super) static RULE: Rule = Rule {
    name: "fp-slot-elsewhere",
    group: Group::Content,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::AMD64.or(Abis::AARCH64),
    about_tools: false,
    page: Page {
        summary: "if the CFA is based on FP, the caller's FP is saved where FP points",
        consequence: "Tracers that follow frame pointers mistake another value for the next one, \
                      or the row's offsets are wrong.",
        remedy: "Compare with the function's prologue.",
        source: "AAPCS64, \"The Frame Pointer\"; System V ABI AMD64, 3.2.2",
        example: "an AMD64 row that says CFA = FP + 16 and FP at CFA - 24",
    },
};

pub(super) fn check(row: &RowContext<'_>, report: &mut Reporter<'_>) {
    let Ok(frame) = row.frame else { return };
    let Cfa::RegisterOffset { register, offset } = frame.cfa else { return };
    if register != row.layout.abi.fp() {
        return;
    }
    for (name, index, slot) in slots(row) {
        if name == "FP" && offset.checked_add(slot) != Some(0) {
            report.field(
                row.word(index),
                slot,
                -offset,
                format_args!(
                    "row {} says CFA = FP{offset:+}, but puts the caller's FP at CFA{slot:+}",
                    row.index
                ),
            );
        }
    }
}
