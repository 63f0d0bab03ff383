//! `unexplained-loss`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "unexplained-loss",
    group: Group::Comparison,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "SFrame describes all code that CFI describes, unless SFrame cannot express it",
        consequence: "Stack traces through the function end or skip frames, although nothing in \
                      its CFI is unusual.",
        remedy: "Check whether the object was assembled without --gsframe or with another version than the \
                 others (linkers drop those sections), and whether a linker script discards .sframe. In \
                 assembly, look for a .cfi_escape that spells a directive, and in a stripped file for .cfi_label: GNU as skips \
                 the function, and the CFI shows no trace of either.",
        source: "V3 1; observed: GNU ld from 2.46 on and mold leave out inputs of another version",
        example: "a library with one object that was assembled without --gsframe",
    },
};
