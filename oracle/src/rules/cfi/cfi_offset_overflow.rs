//! `cfi-offset-overflow`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "cfi-offset-overflow",
    group: Group::Cfi,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "offsets in CFI fit in 64 bits after multiplication",
        consequence: "Unwinders compute a wrong address.",
        remedy: "Correct the offset; it is multiplied by the CIE's data alignment factor.",
        source: "DWARF 5 6.4.2.2",
        example: "DW_CFA_offset_extended_sf of 2^62 with factor -8",
    },
};
