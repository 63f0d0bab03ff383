//! `cfi-pointer-encoding`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "cfi-pointer-encoding",
    group: Group::Cfi,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "pointer encodings are defined ones, and the start of a range is not omitted",
        consequence: "It is unknown where the function is. libgcc aborts.",
        remedy: "Correct the byte that belongs to augmentation R.",
        source: "LSB 10.5.1",
        example: "a CIE with augmentation zR and encoding 0x05",
    },
};
