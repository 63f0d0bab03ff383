use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::{Flags, field};
use crate::subject::SectionContext;

pub(super) static RULE: Rule = Rule {
    name: "reserved-flags",
    group: Group::Header,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "flags that the version does not define are zero",
        consequence: "libsframe and glibc reject the whole section; binutils 2.44 reports \"Out of \
                      Memory\" for the PC-relative flag, which it does not know.",
        remedy: "Clear the bits, or write the version that defines them.",
        source: "V3 2.1.3; V2 2.1.3 with errata 1",
        example: "flags 0x15 in a version 3 section",
    },
};

pub(super) fn check(section: &SectionContext<'_>, report: &mut Reporter<'_>) {
    let header = section.header();
    // A separate rule covers the frame-pointer flag in version 3.
    let defined = header.version.defined_flags() | Flags::FRAME_POINTER;
    let reserved = header.flags.0 & !defined;
    if reserved != 0 {
        report.field(
            field::FLAGS,
            format_args!("{:#04x}", header.flags.0),
            format_args!("bits of {:#04x}", header.version.defined_flags()),
            format_args!(
                "flag bits {reserved:#04x} are set, which version {} does not define",
                header.version.number()
            ),
        );
    }
}
