//! `cfi-sections-differ`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "cfi-sections-differ",
    group: Group::Cfi,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: ".debug_frame and .eh_frame say the same about code that both describe",
        consequence: "Debuggers take one of them, exceptions and most profilers take .eh_frame: they see different frames at the same \
                      PC.",
        remedy: "Leave the function out of one of the two sections (.cfi_sections), or correct the one that is wrong: \
                      --thorough compares both with the machine code.",
        source: "DWARF 5 6.4; observed: gdb takes .debug_frame where both have an FDE for a start",
        example: "a function with a CFA of rsp+16 in one, and of rsp+8 in the other",
    },
};
