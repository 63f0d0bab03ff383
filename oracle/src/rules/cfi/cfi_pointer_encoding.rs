//! `cfi-pointer-encoding`.

use sframe_validator::rules::{Group, Page, Rule, Severity};

pub(crate) static RULE: Rule = Rule::elsewhere(
    "cfi-pointer-encoding",
    Group::Cfi,
    Severity::Warning,
    Page {
        summary: "pointer encodings are defined ones, and the start of a range is not omitted",
        consequence: "It is unknown where the function is. libgcc aborts.",
        remedy: "Correct the byte that belongs to augmentation R.",
        source: "LSB 10.5.1",
        example: "a CIE with augmentation zR and encoding 0x05",
    },
);
