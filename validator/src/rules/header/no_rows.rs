use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::field;
use crate::subject::SectionContext;

pub(super) static RULE: Rule = Rule {
    name: "no-rows",
    group: Group::Header,
    severity: Severity::Warning,
    versions: Versions::UP_TO_2,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "a section with functions has rows",
        consequence: "The kernel refuses the section; no look-up ever succeeds.",
        remedy: "Leave out functions without rows.",
        source: "observed: the kernel's patches",
        example: "a version 2 section with 1 function and 0 rows",
    },
};

pub(super) fn check(section: &SectionContext<'_>, report: &mut Reporter<'_>) {
    let header = section.header();
    if header.num_fdes > 0 && header.num_fres == 0 {
        report.field(
            field::NUM_FRES,
            0,
            "at least 1",
            format_args!("the section has {} functions but no rows", header.num_fdes),
        );
    }
}
