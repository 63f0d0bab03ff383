use super::{header, version_by_entries};
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::field;
use crate::subject::SectionContext;

pub(super) static RULE: Rule = Rule {
    name: "subsection-overlap",
    group: Group::Tiling,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the function table ends at or before the start of the FRE sub-section",
        consequence: "The same bytes are read as functions and as rows. The kernel refuses the \
                      section; libsframe accepts it and then aborts.",
        remedy: "Correct sfh_fdeoff, sfh_num_fdes or sfh_freoff.",
        source: "V3 2.2 (\"tile the SFrame section\"); observed: readelf 2.47, the kernel's \
                 patches",
        example: "a section of 2 functions whose sfh_freoff is one entry too small",
    },
};

pub(super) fn check(section: &SectionContext<'_>, report: &mut Reporter<'_>) {
    let Some(header) = header(section) else { return };
    let (table_end, start) = (header.fde_table_end(), header.fre_start());
    // If one of them ends outside the section, that is the cause.
    let inside = table_end <= section.size() && header.fre_end() <= section.size();
    if inside && table_end > start && version_by_entries(section.section).is_none() {
        report.field(
            field::FREOFF,
            format_args!("{:#x}", header.freoff),
            format_args!("at least {:#x}", table_end - header.size()),
            format_args!(
                "the FRE sub-section starts at {start:#x}, before the function table ends at \
                 {table_end:#x}"
            ),
        );
    }
}
