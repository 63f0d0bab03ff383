//! `cfi-advance-past-end`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "cfi-advance-past-end",
    group: Group::Cfi,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "call frame instructions do not advance past the end of their function's range",
        consequence: "The range is too short or the advance is too long: the code that the last rules describe \
                      is not found, or gets the rules of the next function.",
        remedy: "Correct the size of the range, or the advance.",
        source: "DWARF 5 6.4.2.1",
        example: "an advance of 32 bytes in a function of 16",
    },
};
