//! `cfi-entries-after-terminator`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "cfi-entries-after-terminator",
    group: Group::Cfi,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "nothing follows the zero terminator of .eh_frame",
        consequence: "An unwinder that walks the section stops at the terminator and misses the entries after it; \
                      one that searches .eh_frame_hdr finds them.",
        remedy: "Link crtend.o, which has the terminator, last.",
        source: "LSB 10.6.1.1; observed: libgcc's __register_frame stops there",
        example: "an object that was given to the linker after crtend.o",
    },
};
