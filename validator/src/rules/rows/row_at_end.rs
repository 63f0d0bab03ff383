use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::RowContext;
use crate::subject::row_place::RowPlace;

pub(super) static RULE: Rule = Rule {
    name: "row-at-end",
    group: Group::Rows,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "no row starts at the end of its function",
        consequence: "The row covers nothing; readelf, objdump and ld 2.40 to 2.44 abort on it.",
        remedy: "Drop the CFI that follows the last instruction.",
        source: "V3 2.4; observed: GNU as and LLVM write such a row; binutils PR 33131",
        example: "a row at 16 in a function of 16 bytes",
    },
};

pub(super) fn check(place: RowPlace, row: &RowContext<'_>, report: &mut Reporter<'_>) {
    if place.is_at_end() && !place.repeats() && !place.is_in_empty_function() {
        report.field(
            row.start(),
            format_args!("{:#x}", row.row.start),
            format_args!("below {:#x}", row.function.size()),
            format_args!("row {} starts at the function's end and covers nothing", row.index),
        );
    }
}
