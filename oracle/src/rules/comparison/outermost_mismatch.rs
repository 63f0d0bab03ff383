//! `outermost-mismatch`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "outermost-mismatch",
    group: Group::Comparison,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "version 3 marks an outermost frame where CFI has an undefined return address",
        consequence: "A trace ends too early, or continues past the thread's first function into \
                      whatever is on the stack.",
        remedy: "Check .cfi_undefined of the return-address column, or report the producer.",
        source: "V3 2.4, 1.2; DWARF 5 6.4.2.3; observed: GNU as 2.47.50 writes no rows for a signal frame that \
                 it cannot describe",
        example: "a row without data words, or a function without rows, where CFI has RA at CFA-8",
    },
};
