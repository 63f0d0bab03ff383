use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::field;
use crate::subject::SectionContext;

pub(super) static RULE: Rule = Rule {
    name: "pcrel-flag-clear",
    group: Group::Header,
    severity: Severity::Lint,
    versions: Versions::V2,
    abis: Abis::ALL,
    about_tools: true,
    page: Page {
        summary: "the flag SFRAME_F_FDE_FUNC_START_PCREL is set in version 2",
        consequence: "The file is from binutils before 2.45. Its start fields count from the \
                      section, but libsframe since 2.45 looks up PCs as if they counted from \
                      themselves.",
        remedy: "Build with binutils 2.45 or later.",
        source: "V2 errata 1; observed: GNU as and ld 2.41 to 2.44",
        example: "flags 0x1 in a version 2 section",
    },
};

pub(super) fn check(section: &SectionContext<'_>, report: &mut Reporter<'_>) {
    let flags = section.header().flags;
    if !flags.pcrel() {
        report.field(
            field::FLAGS,
            format_args!("{:#04x}", flags.0),
            "bit 0x04 set",
            format_args!("start fields count from the section, as before errata 1"),
        );
    }
}
