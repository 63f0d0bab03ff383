use super::{header, version_by_entries};
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::field;
use crate::subject::SectionContext;

pub(super) static RULE: Rule = Rule {
    name: "version-entry-size",
    group: Group::Tiling,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the entries of the function table are those of the version that the header \
                  states",
        consequence: "Every entry except the first is read from a wrong place, and so is every \
                      row.",
        remedy: "Correct sfp_version.",
        source: "V1 1.3, V2 2.3, V3 2.3.1: entries of 17, 20 and 16 bytes",
        example: "a version 2 section of 2 functions whose header says version 3",
    },
};

pub(super) fn check(section: &SectionContext<'_>, report: &mut Reporter<'_>) {
    let Some(header) = header(section) else { return };
    let Some(version) = version_by_entries(section.section) else { return };
    report.field(
        field::VERSION,
        header.version.number(),
        version.number(),
        format_args!(
            "the header says version {}, but {} entries of version {} exactly fill the space \
             before the rows",
            header.version.number(),
            header.num_fdes,
            version.number()
        ),
    );
}
