use super::{is_padding, trailing};
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::SectionContext;

pub(super) static RULE: Rule = Rule {
    name: "section-padding",
    group: Group::Tiling,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the section is not padded to its alignment",
        consequence: "None for readers that rely on the header; libsframe up to 2.44 refuses a \
                      padded section in the other byte order.",
        remedy: "None needed.",
        source: "V3 2.2; observed: GNU as 2.47 pads only for s390x",
        example: "a section of 78 bytes followed by 2 bytes of zero",
    },
};

pub(super) fn check(section: &SectionContext<'_>, report: &mut Reporter<'_>) {
    let Some(bytes) = trailing(section).filter(|bytes| is_padding(section, bytes)) else {
        return;
    };
    report.bytes(
        bytes.clone(),
        format_args!(
            "{} bytes of padding follow the FRE sub-section, which ends at {:#x}",
            bytes.end - bytes.start,
            bytes.start
        ),
    );
}
