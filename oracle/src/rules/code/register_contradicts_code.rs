//! `register-contradicts-code`.

use super::ABIS;
use sframe_validator::rules::{Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "register-contradicts-code",
    group: Group::Code,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: ABIS,
    about_tools: false,
    page: Page {
        summary: "CFI recovers the registers that a function keeps for its caller, also those that SFrame does not carry",
        consequence: "An exception that passes the function goes on with a wrong value in the register, and a \
                      debugger shows wrong variables of the caller. Stack traces are right.",
        remedy: "Write .cfi_offset for the register after the instruction that saves it, and .cfi_restore after \
                 the one that restores it, or report the compiler that wrote the directives.",
        source: "DWARF 5 6.4.1; AMD64 psABI 3.2.1; AAPCS64 6.1.1",
        example: "assembly that pushes RBX without .cfi_offset, and overwrites it",
    },
};
