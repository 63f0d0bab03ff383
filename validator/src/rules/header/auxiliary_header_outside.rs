use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::{HEADER_SIZE, field};
use crate::subject::SectionContext;

pub(super) static RULE: Rule = Rule {
    name: "auxiliary-header-outside",
    group: Group::Header,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the auxiliary header ends inside the section",
        consequence: "Every offset counts from its end, so no part of the section can be found. \
                      readelf has crashed on such a section.",
        remedy: "Write 0.",
        source: "V3 2.2; observed: readelf 2.47",
        example: "an auxiliary header of 255 bytes in a shorter section",
    },
};

pub(super) fn check(section: &SectionContext<'_>, report: &mut Reporter<'_>) {
    let header = section.header();
    if header.size() > section.size() {
        report.field(
            field::AUXHDR_LEN,
            header.auxhdr_len,
            format_args!("at most {}", section.size() - HEADER_SIZE),
            format_args!(
                "the auxiliary header ends at {:#x}, past the section's end {:#x}",
                header.size(),
                section.size()
            ),
        );
    }
}
