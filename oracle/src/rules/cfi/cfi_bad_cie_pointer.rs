//! `cfi-bad-cie-pointer`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "cfi-bad-cie-pointer",
    group: Group::Cfi,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the CIE pointer of every FDE leads to a CIE",
        consequence: "The function's frames cannot be found, because its instructions are \
                      meaningless without the CIE.",
        remedy: "Correct the pointer: in .eh_frame, the bytes from the field back to the CIE; in .debug_frame, \
                 the CIE's offset.",
        source: "DWARF 5 6.4.1; LSB 10.6.1.1.2",
        example: "an FDE whose pointer leads into the middle of a CIE",
    },
};
