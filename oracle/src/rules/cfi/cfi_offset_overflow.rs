//! `cfi-offset-overflow`.

use sframe_validator::rules::{Group, Page, Rule, Severity};

pub(crate) static RULE: Rule = Rule::elsewhere(
    "cfi-offset-overflow",
    Group::Cfi,
    Severity::Warning,
    Page {
        summary: "offsets in CFI fit in 64 bits after multiplication",
        consequence: "Unwinders compute a wrong address.",
        remedy: "Correct the offset; it is multiplied by the CIE's data alignment factor.",
        source: "DWARF 5 6.4.2.2",
        example: "DW_CFA_offset_extended_sf of 2^62 with factor -8",
    },
);
