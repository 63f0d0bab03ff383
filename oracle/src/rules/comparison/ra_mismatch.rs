//! `ra-mismatch`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "ra-mismatch",
    group: Group::Comparison,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "rows find the return address where CFI finds it",
        consequence: "A stack trace continues at an address that is not a return address, or \
                      stops.",
        remedy: "Correct the directives for the return address. AMD64 rows of FDE type DEFAULT have RA at \
                 a fixed offset: code that keeps it elsewhere needs a flexible row (version 3) or no entry.",
        source: "V3 3.1, 3.2; DWARF 5 6.4.2.3; observed: GNU as loses an RA other than CFA-8",
        example: "a function with .cfi_offset of column 16 to CFA-16, and a row without an RA word",
    },
};
