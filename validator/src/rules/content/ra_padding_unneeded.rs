use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::RowContext;

pub(super) static RULE: Rule = Rule {
    name: "ra-padding-unneeded",
    group: Group::Content,
    severity: Severity::Warning,
    versions: Versions::SINCE_2,
    abis: Abis::S390X,
    about_tools: false,
    page: Page {
        summary: "RA's word is 0 (not saved) only if FP's word follows",
        consequence: "None for readers that know the padding; others read it as RA at CFA + 0.",
        remedy: "Leave out the word.",
        source: "V2 errata 1 (SFRAME_FRE_RA_OFFSET_INVALID), V3 3.1.3",
        example: "an s390x row with the words CFA and 0",
    },
};

pub(super) fn check(row: &RowContext<'_>, report: &mut Reporter<'_>) {
    let words = &row.row.words;
    if !row.layout.flexible && words.count() == 2 && words.signed(1) == Some(0) {
        report.field(
            row.word(1),
            0,
            "no second word",
            format_args!("row {} pads RA's word, but has no word for FP after it", row.index),
        );
    }
}
