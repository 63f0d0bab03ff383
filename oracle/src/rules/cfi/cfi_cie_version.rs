//! `cfi-cie-version`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "cfi-cie-version",
    group: Group::Cfi,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "a CIE has version 1, 3 or 4",
        consequence: "Unwinders refuse the CIE and find no frame in any function that uses it.",
        remedy: "Correct the version; .eh_frame has 1 or 3.",
        source: "DWARF 5 6.4.1; LSB 10.6.1.1.1",
        example: "a CIE whose version is 2",
    },
};
