use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::RowContext;
use crate::subject::row_place::RowPlace;

pub(super) static RULE: Rule = Rule {
    name: "row-duplicate-start",
    group: Group::Rows,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "no two rows of a function start at the same place",
        consequence: "The first of them covers nothing; the kernel's validation refuses the \
                      section.",
        remedy: "Keep the last of the rows.",
        source: "V3 2.4; observed: GNU as and LLVM write both across an empty alignment",
        example: "rows at 0, 4 and 4",
    },
};

pub(super) fn check(place: RowPlace, row: &RowContext<'_>, report: &mut Reporter<'_>) {
    let Some(previous) = row.previous else { return };
    if place.is_duplicate() {
        report.field(
            row.start(),
            format_args!("{:#x}", row.row.start),
            format_args!("above {:#x}", previous.start),
            format_args!(
                "rows {} and {} both start at {:#x}",
                row.index - 1,
                row.index,
                row.row.start
            ),
        );
    }
}
