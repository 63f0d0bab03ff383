use super::header;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::field;
use crate::subject::SectionContext;

pub(super) static RULE: Rule = Rule {
    name: "rows-outside",
    group: Group::Tiling,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the FRE sub-section ends inside the section",
        consequence: "A reader that trusts the length reads past the section; readelf may crash.",
        remedy: "Correct sfh_freoff or sfh_fre_len.",
        source: "V3 2.2; observed: readelf 2.47",
        example: "a section whose sfh_fre_len is 1 too large",
    },
};

pub(super) fn check(section: &SectionContext<'_>, report: &mut Reporter<'_>) {
    let Some(header) = header(section) else { return };
    let (start, end) = (header.fre_start(), header.fre_end());
    // If the table is truncated, this is the cause, because the rows follow it.
    if header.fde_table_end() > section.size() {
        return;
    }
    if start > section.size() {
        report.field(
            field::FREOFF,
            format_args!("{:#x}", header.freoff),
            format_args!("at most {:#x}", section.size() - header.size()),
            format_args!(
                "the FRE sub-section starts at {start:#x}, past the section's end {:#x}",
                section.size()
            ),
        );
    } else if end > section.size() {
        report.field(
            field::FRE_LEN,
            format_args!("{:#x}", header.fre_len),
            format_args!("at most {:#x}", section.size() - start),
            format_args!(
                "the FRE sub-section ends at {end:#x}, past the section's end {:#x}",
                section.size()
            ),
        );
    }
}
