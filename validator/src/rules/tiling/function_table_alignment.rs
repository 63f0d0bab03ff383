use super::header;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::field;
use crate::subject::SectionContext;

pub(super) static RULE: Rule = Rule {
    name: "function-table-alignment",
    group: Group::Tiling,
    severity: Severity::Warning,
    versions: Versions::V2,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the function table of version 2 is aligned to 4 bytes in the section",
        consequence: "Readers that load its fields as aligned 32-bit words fault or are slow.",
        remedy: "Choose an auxiliary header and an sfh_fdeoff that are multiples of 4.",
        source: "V2 2.3 (\"naturally aligned\")",
        example: "a version 2 section with an auxiliary header of 2 bytes",
    },
};

pub(super) fn check(section: &SectionContext<'_>, report: &mut Reporter<'_>) {
    let Some(header) = header(section) else { return };
    let start = header.fde_table_start();
    if header.fde_table_end() <= section.size() && !start.is_multiple_of(4) {
        report.field(
            field::FDEOFF,
            format_args!("{:#x}", header.fdeoff),
            "a start that is a multiple of 4",
            format_args!("the function table starts at {start:#x}, which is not a multiple of 4"),
        );
    }
}
