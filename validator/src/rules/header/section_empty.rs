use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::PreambleContext;

pub(super) static RULE: Rule = Rule {
    name: "section-empty",
    group: Group::Header,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the section is not empty",
        consequence: "Readers that look for a header in 0 bytes read past the end or fail.",
        remedy: "Leave out the section if there is nothing to describe.",
        source: "observed: ld -r of an object without functions (glibc's Scrt1.o), mold issue 1646",
        example: "a section of 0 bytes",
    },
};

pub(super) fn check(first: &PreambleContext<'_>, report: &mut Reporter<'_>) {
    if first.data.is_empty() {
        report.file(format_args!("the section is empty and has no header"));
    }
}
