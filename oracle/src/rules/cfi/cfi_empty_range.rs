//! `cfi-empty-range`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "cfi-empty-range",
    group: Group::Cfi,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "an FDE describes at least one byte of code",
        consequence: "None: no PC is in it. Some unwinders treat an FDE without bytes as \
                      discarded.",
        remedy: "Nothing to do if the function is meant to be empty (compilers leave out a body \
                 that cannot be reached).",
        source: "DWARF 5 6.4.1",
        example: ".cfi_startproc and .cfi_endproc with nothing in between",
    },
};
