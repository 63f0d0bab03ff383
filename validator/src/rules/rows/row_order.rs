use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::RowContext;
use crate::subject::row_place::RowPlace;

pub(super) static RULE: Rule = Rule {
    name: "row-order",
    group: Group::Rows,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the rows of a function are ordered by their starts",
        consequence: "Readers stop at the first row that starts after the PC, so a row out of \
                      order is never found, or is found instead of another. The kernel's \
                      validation refuses the section.",
        remedy: "Sort the function's rows.",
        source: "V3 2.4; observed: libsframe, glibc and the kernel search linearly",
        example: "rows at 0, 8 and 4",
    },
};

pub(super) fn check(place: RowPlace, row: &RowContext<'_>, report: &mut Reporter<'_>) {
    let Some(previous) = row.previous else { return };
    if place.is_earlier() {
        report.field(
            row.start(),
            format_args!("{:#x}", row.row.start),
            format_args!("above {:#x}", previous.start),
            format_args!(
                "row {} starts at {:#x}, before row {} at {:#x}",
                row.index,
                row.row.start,
                row.index - 1,
                previous.start
            ),
        );
    }
}
