//! `cfi-outside-code`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "cfi-outside-code",
    group: Group::Cfi,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "each FDE of .eh_frame describes code",
        consequence: "No PC is ever in these places, so that the FDE describes nothing, and the code that it was made for has no \
                      description. Or the code was moved, and CFI was not.",
        remedy: "Correct the start of the FDE. A tool that moves code has to move its CFI.",
        source: "DWARF 5 6.4.1; LSB 5.0, 10.6.1",
        example: "an FDE that starts in .data",
    },
};
