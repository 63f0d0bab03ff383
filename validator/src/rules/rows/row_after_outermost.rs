use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::RowContext;

pub(super) static RULE: Rule = Rule {
    name: "row-after-outermost",
    group: Group::Rows,
    severity: Severity::Lint,
    versions: Versions::SINCE_2,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "no row with a return address follows one that marks the outermost frame",
        consequence: "The function is outermost only in part of its code. This is unusual, so its \
                      CFI is worth a look.",
        remedy: "Compare with the function's CFI.",
        source: "V2 errata 2, V3 2.4.1",
        example: "a row without data words, followed by one that says CFA = SP + 8",
    },
};

pub(super) fn check(row: &RowContext<'_>, report: &mut Reporter<'_>) {
    let Some(previous) = row.previous else { return };
    if previous.words.count() == 0 && row.row.words.count() > 0 {
        report.bytes(
            row.row.offset..row.row.offset + row.row.size(),
            format_args!(
                "row {} has a return address, but row {} before it marks the outermost frame",
                row.index,
                row.index - 1
            ),
        );
    }
}
