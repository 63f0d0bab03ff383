use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::ErrorKind;
use crate::subject::UnreadableRow;

pub(super) static RULE: Rule = Rule {
    name: "row-truncated",
    group: Group::Rows,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "every row of a function ends inside the FRE sub-section",
        consequence: "A reader that trusts the count reads past the section; readelf crashes.",
        remedy: "Correct the function's number of rows, or its rows' offset.",
        source: "V3 2.4; observed: readelf 2.47",
        example: "a function of 1 row that says it has 2, at the section's end",
    },
};

pub(super) fn check(row: &UnreadableRow<'_>, report: &mut Reporter<'_>) {
    let ErrorKind::Truncated { needed, available } = row.error.kind else { return };
    let start = row.error.offset;
    let count = row.function.num_rows();
    let s = if count == 1 { "" } else { "s" };
    report.bytes(
        start..start + available,
        format_args!(
            "the row at {start:#x} needs {needed} bytes, but {available} are left in the FRE \
             sub-section; the function has {count} row{s}"
        ),
    );
}
