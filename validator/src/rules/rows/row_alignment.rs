use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::RowContext;
use crate::subject::row_place::RowPlace;

pub(super) static RULE: Rule = Rule {
    name: "row-alignment",
    group: Group::Rows,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::AARCH64.or(Abis::S390X),
    about_tools: false,
    page: Page {
        summary: "a row starts at a possible instruction address: a multiple of 4, on s390x of 2",
        consequence: "The row starts inside an instruction, so readers may find it an instruction \
                      too late.",
        remedy: "Check how the row's start was computed.",
        source: "the machines' instruction sets",
        example: "an AArch64 row at 2",
    },
};

pub(super) fn check(place: RowPlace, row: &RowContext<'_>, report: &mut Reporter<'_>) {
    if !place.is_aligned() {
        let alignment = row.layout.abi.instruction_alignment();
        report.field(
            row.start(),
            format_args!("{:#x}", row.row.start),
            format_args!("a multiple of {alignment}"),
            format_args!(
                "row {} starts at {:#x}, which is not a possible instruction address on {}",
                row.index, row.row.start, row.layout.abi
            ),
        );
    }
}
