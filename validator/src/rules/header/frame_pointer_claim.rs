use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::field;
use crate::subject::SectionContext;

pub(super) static RULE: Rule = Rule {
    name: "frame-pointer-claim",
    group: Group::Header,
    severity: Severity::Warning,
    versions: Versions::UP_TO_2,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the flag SFRAME_F_FRAME_POINTER is clear",
        consequence: "A reader that trusts the flag follows the frame pointer through functions \
                      that may not keep it. No producer has ever set it.",
        remedy: "Clear bit 0x2.",
        source: "V2 2.1.3; observed: GNU as, ld and LLVM never set it",
        example: "flags 0x3 in a version 2 section",
    },
};

pub(super) fn check(section: &SectionContext<'_>, report: &mut Reporter<'_>) {
    let flags = section.header().flags;
    if flags.frame_pointer() {
        report.field(
            field::FLAGS,
            format_args!("{:#04x}", flags.0),
            "bit 0x02 clear",
            format_args!(
                "SFRAME_F_FRAME_POINTER claims that every function keeps the frame pointer"
            ),
        );
    }
}
