//! `cfi-contradicts-code`.

use super::ABIS;
use sframe_validator::rules::{Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "cfi-contradicts-code",
    group: Group::Code,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: ABIS,
    about_tools: false,
    page: Page {
        summary: "CFI says what the instructions of the function do, also where there is no SFrame",
        consequence: "Debuggers and exceptions take a wrong caller here, and so will SFrame that is made \
                      from this CFI.",
        remedy: "Correct the CFI directives of the function, or report the compiler that wrote them.",
        source: "DWARF 5 6.4.1; AMD64 psABI 3.2.2; AAPCS64 6.4",
        example: "assembly that uses RBP for data without .cfi_offset",
    },
};
