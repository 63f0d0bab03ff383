//! `cfi-overlap`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "cfi-overlap",
    group: Group::Cfi,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "no two FDEs describe the same code",
        consequence: "Which one is used depends on the unwinder: a search of .eh_frame_hdr finds \
                      the one that starts last, and a walk over the section finds the one that is \
                      stored first.",
        remedy: "Correct the ranges. Code that was placed by hand inside a function needs its own piece of CFI on \
                 either side.",
        source: "DWARF 5 6.4.1; observed: libgcc searches the table, and walks without one",
        example: "two FDEs of one address with different sizes",
    },
};
