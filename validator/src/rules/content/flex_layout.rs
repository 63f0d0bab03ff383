use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::ErrorKind;
use crate::subject::RowContext;

pub(super) static RULE: Rule = Rule {
    name: "flex-layout",
    group: Group::Content,
    severity: Severity::Error,
    versions: Versions::V3,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the control words of a flexible row match its number of data words",
        consequence: "A zero instead of a control word is padding, which is one word instead of \
                      two, so readers misread every word after it.",
        remedy: "Write one zero for RA if only FP has a rule, and pairs otherwise.",
        source: "V3 3.2",
        example: "a flexible row of 4 words whose third is 0",
    },
};

pub(super) fn check(row: &RowContext<'_>, report: &mut Reporter<'_>) {
    let Err(error) = row.frame else { return };
    if error.kind == ErrorKind::FlexLayout {
        let index =
            if error.offset == row.row.word_offset(2) { 2 } else { row.row.words.count() - 2 };
        report.field(
            row.word(index),
            row.row.words.unsigned(index).unwrap_or(0),
            if row.row.words.count() == 5 && index == 2 { "0" } else { "a control word" },
            format_args!(
                "flexible row {} has {} data words, which does not match its control words",
                row.index,
                row.row.words.count()
            ),
        );
    }
}
