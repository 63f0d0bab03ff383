use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::HEADER_SIZE;
use crate::subject::PreambleContext;

pub(super) static RULE: Rule = Rule {
    name: "section-truncated",
    group: Group::Header,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the section contains a complete header of 28 bytes",
        consequence: "A reader that casts the section to a header reads past its end.",
        remedy: "Find out what truncated the section; a header without functions has 28 bytes.",
        source: "V3 2.2",
        example: "the first 27 bytes of a section",
    },
};

pub(super) fn check(first: &PreambleContext<'_>, report: &mut Reporter<'_>) {
    let size = first.data.len() as u64;
    if size > 0 && size < HEADER_SIZE {
        report.bytes(
            0..size,
            format_args!("the section has {size} bytes, but a header has {HEADER_SIZE}"),
        );
    }
}
