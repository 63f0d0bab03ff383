use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::field;
use crate::subject::SectionContext;

pub(super) static RULE: Rule = Rule {
    name: "pcrel-flag-missing",
    group: Group::Header,
    severity: Severity::Error,
    versions: Versions::V3,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the flag SFRAME_F_FDE_FUNC_START_PCREL is set in version 3",
        consequence: "The kernel's reader refuses the section, GNU ld refuses the input, and \
                      libsframe looks up PCs as if the flag were set, so it finds the wrong \
                      functions.",
        remedy: "Write start fields relative to themselves and set bit 0x4.",
        source: "observed: libsframe 2.47, GNU ld 2.47, the kernel's version 3 patches",
        example: "flags 0x1 in a version 3 section",
    },
};

pub(super) fn check(section: &SectionContext<'_>, report: &mut Reporter<'_>) {
    let flags = section.header().flags;
    if !flags.pcrel() {
        report.field(
            field::FLAGS,
            format_args!("{:#04x}", flags.0),
            "bit 0x04 set",
            format_args!(
                "SFRAME_F_FDE_FUNC_START_PCREL is clear, but readers of version 3 rely \
                          on it"
            ),
        );
    }
}
