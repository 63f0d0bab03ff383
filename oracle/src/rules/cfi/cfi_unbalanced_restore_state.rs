//! `cfi-unbalanced-restore-state`.

use sframe_validator::rules::{Group, Page, Rule, Severity};

pub(crate) static RULE: Rule = Rule::elsewhere(
    "cfi-unbalanced-restore-state",
    Group::Cfi,
    Severity::Warning,
    Page {
        summary: "every restore_state has a remember_state before it",
        consequence: "Unwinders use an empty rule set, or crash.",
        remedy: "Add the missing .cfi_remember_state.",
        source: "DWARF 5 6.4.2.4",
        example: ".cfi_restore_state as a function's only directive",
    },
);
