//! `cfi-address-size`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "cfi-address-size",
    group: Group::Cfi,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "a version 4 CIE says that addresses have 2, 4 or 8 bytes, and segment selectors at most 8",
        consequence: "No field after it can be found, so its functions have no frames.",
        remedy: "Write the size of the machine's addresses, and 0 for the selector.",
        source: "DWARF 5 6.4.1",
        example: "a CIE of version 4 with address_size 3",
    },
};
