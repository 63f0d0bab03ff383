//! `search-table-unreadable`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "search-table-unreadable",
    group: Group::Cfi,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: ".eh_frame_hdr can be read",
        consequence: "Unwinders find no FDE in this file, although .eh_frame may be sound: exceptions that pass through it \
                      end the program, and stacks end there.",
        remedy: "Link again. A tool that changed the file after the linker may have overwritten or cut the section.",
        source: "LSB 5.0, 10.6.2 (.eh_frame_hdr); observed: libgcc gives up if the version is not 1",
        example: "a table that says that it has 2^32 - 1 entries",
    },
};
