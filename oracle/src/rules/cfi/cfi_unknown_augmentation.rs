//! `cfi-unknown-augmentation`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "cfi-unknown-augmentation",
    group: Group::Cfi,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the letters of a CIE's augmentation string are known",
        consequence: "An unwinder that does not know a letter cannot read what follows it. Some pass over it if the string begins \
                      with z, others give up: stacks and exceptions end in the functions of this CIE.",
        remedy: "Write the letters that unwinders know: z, L, P, R, S; on AArch64, B and G.",
        source: "LSB 5.0, 10.6.1.1.1; DWARF 5 6.4.1; observed: libgcc passes over an unknown letter after z",
        example: "a CIE with the augmentation zQ",
    },
};
