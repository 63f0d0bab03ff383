use super::header;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::field;
use crate::subject::SectionContext;

pub(super) static RULE: Rule = Rule {
    name: "function-table-offset",
    group: Group::Tiling,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the function table follows the header: sfh_fdeoff is 0",
        consequence: "libsframe leaves the offset out of PC-relative start addresses, and glibc \
                      and binutils up to 2.44 ignore it: they read other bytes as functions.",
        remedy: "Write the table directly after the header.",
        source: "observed: libsframe 2.44 and 2.47, glibc 2.43; every producer writes 0",
        example: "a section with 4 bytes between the header and the function table",
    },
};

pub(super) fn check(section: &SectionContext<'_>, report: &mut Reporter<'_>) {
    let Some(header) = header(section) else { return };
    if header.fdeoff != 0 && header.fde_table_end() <= section.size() {
        report.field(
            field::FDEOFF,
            format_args!("{:#x}", header.fdeoff),
            "0",
            format_args!("the function table starts {} bytes after the header", header.fdeoff),
        );
    }
}
