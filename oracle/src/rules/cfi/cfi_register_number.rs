//! `cfi-register-number`.

use sframe_validator::rules::{Group, Page, Rule, Severity};

pub(crate) static RULE: Rule = Rule::elsewhere(
    "cfi-register-number",
    Group::Cfi,
    Severity::Warning,
    Page {
        summary: "register numbers in CFI are those of the machine",
        consequence: "No machine has a register with such a number. Unwinders truncate it, or \
                      leave out the rule.",
        remedy: "Correct the operand.",
        source: "DWARF 5 6.4.2.3",
        example: "DW_CFA_same_value of register 2^32",
    },
);
