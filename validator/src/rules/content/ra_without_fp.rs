use super::WordCount;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::RowContext;

pub(super) static RULE: Rule = Rule {
    name: "ra-without-fp",
    group: Group::Content,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::AARCH64,
    about_tools: false,
    page: Page {
        summary: "an AArch64 row has 1 or 3 data words: RA is saved together with FP",
        consequence: "A reader that knows only 1 and 3 words refuses the row. In version 1, the \
                      second word may also be FP's: GNU as 2.40 writes that if RA is not saved.",
        remedy: "Compare with the function's CFI.",
        source: "V3 3.1.2 (\"either 1 or 3\"), V1 1.4; observed: GNU as writes 2 if only RA is \
                 saved",
        example: "an AArch64 row with the words CFA and RA",
    },
};

pub(super) fn check(row: &RowContext<'_>, report: &mut Reporter<'_>) {
    if !row.layout.flexible && row.row.words.count() == 2 {
        report.field(
            row.info(),
            WordCount(2),
            "1 or 3",
            format_args!("row {} saves RA, but not FP", row.index),
        );
    }
}
