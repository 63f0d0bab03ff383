//! `cfi-truncated`.

use sframe_validator::rules::{Group, Page, Rule, Severity};

pub(crate) static RULE: Rule = Rule::elsewhere(
    "cfi-truncated",
    Group::Cfi,
    Severity::Warning,
    Page {
        summary: "fields and operands of a CFI entry end inside the entry",
        consequence: "Unwinders read the next entry's bytes as this one's, or refuse it.",
        remedy: "Look at hand-written directives such as .cfi_escape, and check whether the section is truncated.",
        source: "DWARF 5 6.4.1, 7.24",
        example: "an FDE that ends with DW_CFA_advance_loc4 and two bytes",
    },
);
