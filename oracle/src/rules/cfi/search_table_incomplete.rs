//! `search-table-incomplete`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "search-table-incomplete",
    group: Group::Cfi,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: ".eh_frame_hdr has an entry for each function that .eh_frame describes",
        consequence: "Unwinders search the table alone: for this function they find no FDE, although .eh_frame has one. An \
                      exception that passes through it ends the program, and stacks end there.",
        remedy: "Link again. A tool that added FDEs has to make the table again, or leave it out (DW_EH_PE_omit).",
        source: "LSB 5.0, 10.6.2 (.eh_frame_hdr); allowed: no table, and no entries for FDEs that describe no code, \
                      which GNU ld leaves out",
        example: "a table with one entry for three functions",
    },
};
