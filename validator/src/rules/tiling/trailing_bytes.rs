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
    page: Page {
        summary: "the section ends where the FRE sub-section ends, padding apart",
        consequence: "libsframe refuses such a section in the other byte order, up to 2.44 any, \
                      since 2.46 one whose trailing bytes are not zero; other readers ignore them.",
        remedy: "Cut the section, or find out what appended the bytes.",
        source: "V3 2.2; observed: libsframe 2.44 and 2.47",
        example: "a section followed by 8 bytes 0xff",
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
