use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::field;
use crate::subject::SectionContext;

pub(super) static RULE: Rule = Rule {
    name: "obsolete-version",
    group: Group::Header,
    severity: Severity::Warning,
    versions: Versions::V1,
    abis: Abis::ALL,
    about_tools: true,
    page: Page {
        summary: "version 1 is obsolete",
        consequence: "Only binutils 2.40 reads version 1; every other reader refuses the section.",
        remedy: "Build with binutils 2.41 or later.",
        source: "V3 1.3 (\"should not be used\")",
        example: "a section of version 1",
    },
};

pub(super) fn check(section: &SectionContext<'_>, report: &mut Reporter<'_>) {
    let _ = section;
    report.field(
        field::VERSION,
        1,
        "2 or 3",
        format_args!("the section's version is 1, which is obsolete"),
    );
}
