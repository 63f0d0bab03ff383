use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::RowContext;
use crate::subject::row_place::RowPlace;

pub(super) static RULE: Rule = Rule {
    name: "first-row-offset",
    group: Group::Rows,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "a function's first row starts at the function's start",
        consequence: "Look-ups fail for the PCs before the first row.",
        remedy: "Describe the function from its entry on. Legal if hand-written code with \
                 .cfi_startproc simple has no rule at its entry.",
        source: "V3 2.4; observed: every reader fails for such PCs",
        example: "a function whose only row starts at 4",
    },
};

pub(super) fn check(place: RowPlace, row: &RowContext<'_>, report: &mut Reporter<'_>) {
    if place.is_first() && !place.is_at_start() {
        report.field(
            row.start(),
            format_args!("{:#x}", row.row.start),
            "0",
            format_args!(
                "the first row starts at {:#x}, so the code before it has no row",
                row.row.start
            ),
        );
    }
}
