//! `cfi-unknown-instruction`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "cfi-unknown-instruction",
    group: Group::Cfi,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "call frame instructions are defined for the machine",
        consequence: "The length of the instruction is unknown, so nothing after it can be read. \
                      libgcc aborts.",
        remedy: "Look at .cfi_escape directives, and check whether the file was made for this \
                 machine.",
        source: "DWARF 5 7.24; LSB 10.5.2",
        example: "an FDE with an instruction of code 0x3f",
    },
};
