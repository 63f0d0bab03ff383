use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::field;
use crate::subject::SectionContext;

pub(super) static RULE: Rule = Rule {
    name: "frame-pointer-flag",
    group: Group::Header,
    severity: Severity::Error,
    versions: Versions::V3,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the flag SFRAME_F_FRAME_POINTER is clear in version 3",
        consequence: "libsframe rejects the whole section.",
        remedy: "Clear bit 0x2.",
        source: "V3 2.1.3; observed: libsframe 2.47",
        example: "flags 0x7 in a version 3 section",
    },
};

pub(super) fn check(section: &SectionContext<'_>, report: &mut Reporter<'_>) {
    let flags = section.header().flags;
    if flags.frame_pointer() {
        report.field(
            field::FLAGS,
            format_args!("{:#04x}", flags.0),
            "bit 0x02 clear",
            format_args!("SFRAME_F_FRAME_POINTER is set, but version 3 removed this flag"),
        );
    }
}
