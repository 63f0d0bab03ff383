use super::header;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::field;
use crate::subject::SectionContext;

pub(super) static RULE: Rule = Rule {
    name: "function-table-outside",
    group: Group::Tiling,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the function table ends inside the section",
        consequence: "A reader that trusts the count reads past the section; libsframe computes \
                      the table's size in 32 bits, allocates too little, and crashes.",
        remedy: "Correct sfh_num_fdes or sfh_fdeoff.",
        source: "V3 2.2; observed: readelf 2.47 crashes or runs out of memory",
        example: "a section of 1 function whose header says 4,294,967,295",
    },
};

pub(super) fn check(section: &SectionContext<'_>, report: &mut Reporter<'_>) {
    let Some(header) = header(section) else { return };
    let (start, end) = (header.fde_table_start(), header.fde_table_end());
    if start > section.size() {
        report.field(
            field::FDEOFF,
            format_args!("{:#x}", header.fdeoff),
            format_args!("at most {:#x}", section.size() - header.size()),
            format_args!(
                "the function table starts at {start:#x}, past the section's end {:#x}",
                section.size()
            ),
        );
    } else if end > section.size() {
        let room = (section.size() - start) / header.version.entry_size();
        report.field(
            field::NUM_FDES,
            header.num_fdes,
            format_args!("at most {room}"),
            format_args!(
                "the function table ends at {end:#x}, past the section's end {:#x}",
                section.size()
            ),
        );
    }
}
