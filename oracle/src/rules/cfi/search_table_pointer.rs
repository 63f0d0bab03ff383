//! `search-table-pointer`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "search-table-pointer",
    group: Group::Cfi,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the pointer in .eh_frame_hdr leads to .eh_frame",
        consequence: "An unwinder that reads .eh_frame from its start reads something else: libgcc does so if there is no \
                      table in its encoding, libunwind if the table has no entry for a PC.",
        remedy: "Link again. A tool that moved .eh_frame has to change the pointer.",
        source: "LSB 5.0, 10.6.2 (.eh_frame_hdr); observed: libgcc, libunwind",
        example: "a pointer that leads 4 bytes too far",
    },
};
