use super::WordCount;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::RowContext;

pub(super) static RULE: Rule = Rule {
    name: "word-count-zero",
    group: Group::Content,
    severity: Severity::Warning,
    versions: Versions::V2,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "before errata 1 of version 2, a row has at least one data word",
        consequence: "Only errata 2 of version 2 defines a row without data words: it is the \
                      outermost frame. Earlier readers do not know it, and the kernel's refuse \
                      the section.",
        remedy: "Write version 3, or leave out the function.",
        source: "V2 errata 2; observed: the kernel's version 2 reader",
        example: "a version 2 row with info byte 0, without the PC-relative flag",
    },
};

pub(super) fn check(row: &RowContext<'_>, report: &mut Reporter<'_>) {
    let early = !row.function.section().header().flags.pcrel();
    if row.row.info.word_count() == 0 && early {
        report.field(
            row.info(),
            WordCount(0),
            "at least 1",
            format_args!("row {} has no data words", row.index),
        );
    }
}
