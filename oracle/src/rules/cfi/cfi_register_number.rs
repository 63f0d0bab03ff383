//! `cfi-register-number`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "cfi-register-number",
    group: Group::Cfi,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "register numbers in CFI are those of the machine",
        consequence: "No machine has a register with such a number. Unwinders truncate it, or \
                      leave out the rule.",
        remedy: "Correct the operand.",
        source: "DWARF 5 6.4.2.3",
        example: "DW_CFA_same_value of register 2^32",
    },
};
