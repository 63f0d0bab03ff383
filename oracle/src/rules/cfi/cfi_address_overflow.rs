//! `cfi-address-overflow`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "cfi-address-overflow",
    group: Group::Cfi,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "functions and the locations in them end inside the address space",
        consequence: "The range wraps: unwinders find the function everywhere or nowhere.",
        remedy: "Correct the size of the range, or the advance.",
        source: "DWARF 5 6.4.1, 6.4.2.1",
        example: "an FDE of 2^63 bytes at 2^63",
    },
};
