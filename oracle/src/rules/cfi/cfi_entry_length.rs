//! `cfi-entry-length`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "cfi-entry-length",
    group: Group::Cfi,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "a CFI entry's length leads to the next entry",
        consequence: "No entry after this one can be found. With .eh_frame_hdr, unwinders still find those \
                      that its table names; an unwinder that registers the whole section loses all of them.",
        remedy: "Correct the length. Values from 0xfffffff0 on are reserved, except 0xffffffff.",
        source: "DWARF 5 7.4; LSB 10.6.1.1",
        example: "a last FDE that is 4 bytes longer than the rest of the section",
    },
};
