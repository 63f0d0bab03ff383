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
        consequence: "A CIE has no location, so after an advance the state at the start of its functions is unknown. It has \
                      no earlier rule to restore either: for libgcc and `sframe-check`, the register has no rule, while gimli \
                      refuses the CIE and all its functions. If the CIE has a rule for the register, readers disagree, and \
                      the state is not known.",
        remedy: "Move the instruction into the FDEs. GNU as makes the CIE from the directives before a function's first \
                 instruction: there, leave out `.cfi_restore` of a register that has no rule, which GCC writes for cold parts.",
        source: "DWARF 5 6.4.1, 6.4.2.3",
        example: "a CIE with DW_CFA_advance_loc",
    },
};
