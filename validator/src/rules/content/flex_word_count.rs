use super::WordCount;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::RowContext;

pub(super) static RULE: Rule = Rule {
    name: "flex-word-count",
    group: Group::Content,
    severity: Severity::Error,
    versions: Versions::V3,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "a flexible row has 0, 2, 4, 5 or 6 data words",
        consequence: "Words are left over or missing. The kernel refuses the section, and \
                      libsframe overwrites memory if there are more than 6.",
        remedy: "Write a pair for each of CFA, RA and FP that has a rule, and one zero for RA if \
                 only FP has one.",
        source: "V3 3.2; observed: the kernel's patches, libsframe 2.47",
        example: "a flexible row with 3 data words",
    },
};

pub(super) fn check(row: &RowContext<'_>, report: &mut Reporter<'_>) {
    let count = row.row.info.word_count();
    if row.layout.flexible && !matches!(count, 0 | 2 | 4 | 5 | 6) {
        report.field(
            row.info(),
            WordCount(count),
            "0, 2, 4, 5 or 6",
            format_args!("flexible row {} has {}", row.index, WordCount(count)),
        );
    }
}
