use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::field;
use crate::subject::{FileKind, SectionContext};

pub(super) static RULE: Rule = Rule {
    name: "no-functions",
    group: Group::Header,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the section of a linked file describes at least one function",
        consequence: "The kernel refuses the section, which takes up space and describes nothing.",
        remedy: "Leave out the section (--discard-sframe).",
        source: "observed: the kernel's patches; GNU as for code whose CFI it cannot express",
        example: "a shared object whose section is only a header",
    },
};

pub(super) fn check(section: &SectionContext<'_>, report: &mut Reporter<'_>) {
    if section.kind == FileKind::Linked && section.header().num_fdes == 0 {
        report.field(
            field::NUM_FDES,
            0,
            "at least 1",
            format_args!("the section describes no functions"),
        );
    }
}
