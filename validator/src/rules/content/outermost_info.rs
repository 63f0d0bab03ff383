use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::RowContext;

pub(super) static RULE: Rule = Rule {
    name: "outermost-info",
    group: Group::Content,
    severity: Severity::Lint,
    versions: Versions::SINCE_2,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the info byte of a row without data words is 0",
        consequence: "None: base, word size and signature have no meaning there.",
        remedy: "Write 0.",
        source: "observed: GNU as 2.47",
        example: "a version 3 row with info byte 1",
    },
};

pub(super) fn check(row: &RowContext<'_>, report: &mut Reporter<'_>) {
    let info = row.row.info;
    if info.word_count() == 0 && info.0 != 0 {
        report.field(
            row.info(),
            format_args!("{:#04x}", info.0),
            "0x00",
            format_args!(
                "row {} has no data words, but its info byte has bits about them",
                row.index
            ),
        );
    }
}
