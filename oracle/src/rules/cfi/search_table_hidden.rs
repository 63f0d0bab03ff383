//! `search-table-hidden`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "search-table-hidden",
    group: Group::Cfi,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "no other entry of .eh_frame_hdr hides a function",
        consequence: "A search finds the last entry that is not after a PC, and its FDE does not describe the PC. For \
                      these bytes of the function, unwinders find no FDE, although .eh_frame has one. An exception that \
                      passes through it ends the program, and stacks end there.",
        remedy: "Remove FDEs that describe no code from .eh_frame, or link with GNU ld or mold, whose tables hide no function.",
        source: "LSB 5.0, 10.6.2 (.eh_frame_hdr); observed: of two FDEs with one start, lld keeps the entry of the \
                      first, also if that one describes no code",
        example: "an FDE without code at the start of a function",
    },
};
