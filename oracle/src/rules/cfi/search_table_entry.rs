//! `search-table-entry`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "search-table-entry",
    group: Group::Cfi,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "each entry of .eh_frame_hdr leads to the FDE of its function",
        consequence: "An unwinder finds no FDE for some PCs of the function, or takes something else for one.",
        remedy: "Link again. A tool that moved functions or changed .eh_frame has to make the table again.",
        source: "LSB 5.0, 10.6.2 (.eh_frame_hdr); allowed: entries of FDEs that describe no code, which mold moves to \
                      the end of the table",
        example: "an entry whose function starts one byte later than its FDE",
    },
};
