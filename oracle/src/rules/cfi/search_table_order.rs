//! `search-table-order`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "search-table-order",
    group: Group::Cfi,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the entries of .eh_frame_hdr are sorted by the start of their functions",
        consequence: "A binary search misses functions that have an entry: which ones depends on the unwinder.",
        remedy: "Link again. A tool that moved functions has to sort the table.",
        source: "LSB 5.0, 10.6.2 (.eh_frame_hdr); observed: libgcc and libunwind search it without looking at the \
                      order",
        example: "a table in which two entries were exchanged",
    },
};
