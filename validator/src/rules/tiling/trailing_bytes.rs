use super::{is_padding, trailing};
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::SectionContext;

pub(super) static RULE: Rule = Rule {
    name: "trailing-bytes",
    group: Group::Tiling,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "apart from padding, the section ends where the FRE sub-section ends",
        consequence: "In the other byte order, libsframe up to 2.44 refuses any such section, and \
                      since 2.46 one whose trailing bytes are not zero. Other readers ignore the \
                      bytes.",
        remedy: "Truncate the section, or find out what appended the bytes.",
        source: "V3 2.2; observed: libsframe 2.44 and 2.47",
        example: "a section followed by 8 bytes of 0xff",
    },
};

pub(super) fn check(section: &SectionContext<'_>, report: &mut Reporter<'_>) {
    let Some(bytes) = trailing(section).filter(|bytes| !is_padding(section, bytes)) else {
        return;
    };
    report.bytes(
        bytes.clone(),
        format_args!(
            "{} bytes follow the FRE sub-section, which ends at {:#x}",
            bytes.end - bytes.start,
            bytes.start
        ),
    );
}
