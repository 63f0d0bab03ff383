//! `cfi-number-too-large`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "cfi-number-too-large",
    group: Group::Cfi,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "LEB128 numbers in CFI fit in 64 bits",
        consequence: "Unwinders truncate the number, each in its own way, and compute a wrong \
                      frame.",
        remedy: "Correct the operand.",
        source: "DWARF 5 7.6",
        example: "DW_CFA_def_cfa_offset with an operand of 11 bytes",
    },
};
