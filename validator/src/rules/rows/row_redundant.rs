use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::RowContext;

pub(super) static RULE: Rule = Rule {
    name: "row-redundant",
    group: Group::Rows,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "a row differs from the row before it",
        consequence: "None, except that the row takes up space.",
        remedy: "Merge adjacent rows that are equal.",
        source: "observed: GNU as writes such rows, for example as the last of a function",
        example: "two rows that say CFA = SP + 8",
    },
};

pub(super) fn check(row: &RowContext<'_>, report: &mut Reporter<'_>) {
    let Some(previous) = row.previous else { return };
    // Errors are never equal, because they name different places.
    if row.layout.interpret(previous) == row.frame {
        report.bytes(
            row.row.offset..row.row.offset + row.row.size(),
            format_args!("row {} has the same values as row {}", row.index, row.index - 1),
        );
    }
}
