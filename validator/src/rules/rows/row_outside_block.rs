use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::RowContext;
use crate::subject::row_place::RowPlace;

pub(super) static RULE: Rule = Rule {
    name: "row-outside-block",
    group: Group::Rows,
    severity: Severity::Error,
    versions: Versions::SINCE_2,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "rows that repeat start inside the repeated block",
        consequence: "The row is never found, because look-ups use the offset in the block.",
        remedy: "Correct the row's start or the block size.",
        source: "V3 2.3.3.1",
        example: "a row at 16 in a block of 16 bytes",
    },
};

pub(super) fn check(place: RowPlace, row: &RowContext<'_>, report: &mut Reporter<'_>) {
    let block = row.function.attributes().rep_size;
    if place.is_in_block() && (place.is_at_end() || place.is_past_end()) {
        report.field(
            row.start(),
            format_args!("{:#x}", row.row.start),
            format_args!("below {block:#x}"),
            format_args!(
                "row {} starts at {:#x}, outside the repeated block ({block:#x} bytes)",
                row.index, row.row.start
            ),
        );
    }
}
