//! `cfi-truncated`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "cfi-truncated",
    group: Group::Cfi,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "fields and operands of a CFI entry end inside the entry",
        consequence: "Unwinders read the next entry's bytes as this one's, or refuse it.",
        remedy: "Look at hand-written directives such as .cfi_escape, and check whether the section is truncated.",
        source: "DWARF 5 6.4.1, 7.24",
        example: "an FDE that ends with DW_CFA_advance_loc4 and two bytes",
    },
};
