//! `cfi-not-initial`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "cfi-not-initial",
    group: Group::Cfi,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "a CIE's instructions neither advance the location nor restore an initial rule",
        consequence: "A CIE has no location and no earlier rule to restore, so the state at the \
                      start of its functions is unknown.",
        remedy: "Move the instruction into the FDEs.",
        source: "DWARF 5 6.4.1, 6.4.2.3",
        example: "a CIE with DW_CFA_advance_loc",
    },
};
