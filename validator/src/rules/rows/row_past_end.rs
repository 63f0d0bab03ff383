use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::RowContext;
use crate::subject::row_place::RowPlace;

pub(super) static RULE: Rule = Rule {
    name: "row-past-end",
    group: Group::Rows,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "rows start inside their function",
        consequence: "The row is never found, or found for PCs of another function; readelf up to \
                      2.44 aborts.",
        remedy: "Correct the row's start or the function's size.",
        source: "V3 2.4; observed: binutils PR 33131",
        example: "a row at 17 in a function of 16 bytes",
    },
};

pub(super) fn check(place: RowPlace, row: &RowContext<'_>, report: &mut Reporter<'_>) {
    if place.is_past_end() && !place.repeats() {
        report.field(
            row.start(),
            format_args!("{:#x}", row.row.start),
            format_args!("below {:#x}", row.function.size()),
            format_args!(
                "row {} starts at {:#x}, past the end of the function ({:#x} bytes)",
                row.index,
                row.row.start,
                row.function.size()
            ),
        );
    }
}
