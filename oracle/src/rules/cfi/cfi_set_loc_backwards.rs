//! `cfi-set-loc-backwards`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "cfi-set-loc-backwards",
    group: Group::Cfi,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "set_loc leads to a higher address of the same function",
        consequence: "Unwinders stop at the first location after the PC, so the rules after the instruction are \
                      not found.",
        remedy: "Correct the address.",
        source: "DWARF 5 6.4.2.1",
        example: "DW_CFA_set_loc to the function's start after an advance",
    },
};
