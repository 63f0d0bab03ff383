//! `cfi-cfa-not-register`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "cfi-cfa-not-register",
    group: Group::Cfi,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "def_cfa_register and def_cfa_offset change a CFA rule that has a register and \
                  an offset",
        consequence: "Unwinders make up the missing half: they keep the value from before the \
                      expression, or use zero.",
        remedy: "Give both with .cfi_def_cfa.",
        source: "DWARF 5 6.4.2.2",
        example: "DW_CFA_def_cfa_offset after DW_CFA_def_cfa_expression",
    },
};
