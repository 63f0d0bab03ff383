use super::{header, version_by_entries};
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::field;
use crate::subject::SectionContext;

pub(super) static RULE: Rule = Rule {
    name: "subsection-gap",
    group: Group::Tiling,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the FRE sub-section starts where the function table ends",
        consequence: "glibc and binutils up to 2.44 read rows directly after the table, whatever \
                      sfh_freoff says.",
        remedy: "Write the rows directly after the function table.",
        source: "V3 2.2 (\"tile the SFrame section\"); observed: libsframe 2.44, glibc 2.43",
        example: "a section with 4 bytes between the function table and the rows",
    },
};

pub(super) fn check(section: &SectionContext<'_>, report: &mut Reporter<'_>) {
    let Some(header) = header(section) else { return };
    let (table_end, start) = (header.fde_table_end(), header.fre_start());
    let gap = table_end < start && header.fre_end() <= section.size();
    if gap && version_by_entries(section.section).is_none() {
        report.field(
            field::FREOFF,
            format_args!("{:#x}", header.freoff),
            format_args!("{:#x}", table_end - header.size()),
            format_args!(
                "{} bytes are between the function table and the FRE sub-section",
                start - table_end
            ),
        );
    }
}
