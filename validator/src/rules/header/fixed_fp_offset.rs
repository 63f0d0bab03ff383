use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::field;
use crate::subject::SectionContext;

pub(super) static RULE: Rule = Rule {
    name: "fixed-fp-offset",
    group: Group::Header,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the fixed FP offset is 0, because no ABI fixes the place where FP is saved",
        consequence: "It determines whether rows have a data word for FP. With a wrong value, \
                      every reader mistakes one data word for another.",
        remedy: "Write 0.",
        source: "V3 2.2; observed: every producer writes 0",
        example: "an AMD64 section with a fixed FP offset of -16",
    },
};

pub(super) fn check(section: &SectionContext<'_>, report: &mut Reporter<'_>) {
    let value = section.header().cfa_fixed_fp_offset;
    if value != 0 {
        report.field(
            field::FIXED_FP,
            value,
            "0",
            format_args!("the fixed FP offset is {value}, but no ABI has one"),
        );
    }
}
