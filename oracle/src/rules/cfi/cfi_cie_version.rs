//! `cfi-cie-version`.

use sframe_validator::rules::{Group, Page, Rule, Severity};

pub(crate) static RULE: Rule = Rule::elsewhere(
    "cfi-cie-version",
    Group::Cfi,
    Severity::Warning,
    Page {
        summary: "a CIE has version 1, 3 or 4",
        consequence: "Unwinders refuse the CIE and find no frame in any function that uses it.",
        remedy: "Correct the version; .eh_frame has 1 or 3.",
        source: "DWARF 5 6.4.1; LSB 10.6.1.1.1",
        example: "a CIE whose version is 2",
    },
);
