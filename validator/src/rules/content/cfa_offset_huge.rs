use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::RowContext;
use crate::unwind::Cfa;

pub(super) static RULE: Rule = Rule {
    name: "cfa-offset-huge",
    group: Group::Content,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "a CFA offset is below 16 MiB",
        consequence: "A frame of this size does not fit in the usual stack of 8 MiB.",
        remedy: "Check the function's frame size.",
        source: "observed: binutils PR 33277",
        example: "a row that says CFA = SP + 33554432",
    },
};

pub(super) fn check(row: &RowContext<'_>, report: &mut Reporter<'_>) {
    const LIMIT: u64 = 16 << 20;
    let Ok(frame) = row.frame else { return };
    let (Cfa::RegisterOffset { offset, .. } | Cfa::Dereference { offset, .. }) = frame.cfa else {
        return;
    };
    if offset.unsigned_abs() >= LIMIT {
        report.field(
            row.word(usize::from(row.layout.flexible)),
            offset,
            format_args!("below {LIMIT}"),
            format_args!("row {} puts the CFA {offset} bytes from its base", row.index),
        );
    }
}
