use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::field;
use crate::subject::SectionContext;

pub(super) static RULE: Rule = Rule {
    name: "fixed-ra-offset",
    group: Group::Header,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the fixed RA offset is the ABI's: -8 for AMD64, 0 (none) for the others",
        consequence: "It determines whether rows have a data word for RA. With a wrong value, \
                      every reader mistakes one data word for another.",
        remedy: "Write the ABI's value.",
        source: "V3 2.2, 3.1.1 to 3.1.3",
        example: "an AMD64 section with a fixed RA offset of 0",
    },
};

pub(super) fn check(section: &SectionContext<'_>, report: &mut Reporter<'_>) {
    let Some(abi) = section.abi() else { return };
    let value = section.header().cfa_fixed_ra_offset;
    let expected = abi.fixed_ra_offset();
    if value != expected {
        report.field(
            field::FIXED_RA,
            value,
            expected,
            format_args!("the fixed RA offset is {value}, but on {abi} it is {expected}"),
        );
    }
}
