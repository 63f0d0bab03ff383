//! `cfi-unbalanced-restore-state`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "cfi-unbalanced-restore-state",
    group: Group::Cfi,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "every restore_state has a remember_state before it",
        consequence: "Unwinders use an empty rule set, or crash.",
        remedy: "Add the missing .cfi_remember_state.",
        source: "DWARF 5 6.4.2.4",
        example: ".cfi_restore_state as a function's only directive",
    },
};
