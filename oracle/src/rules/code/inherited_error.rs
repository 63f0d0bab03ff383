//! `inherited-error`.

use super::ABIS;
use sframe_validator::rules::{Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "inherited-error",
    group: Group::Code,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: ABIS,
    about_tools: false,
    page: Page {
        summary: "SFrame and CFI, where they agree, say what the instructions of the function do",
        consequence: "SFrame is made from CFI, and has inherited its mistake. Debuggers, exceptions and \
                      profilers all take a wrong caller here.",
        remedy: "Correct the CFI directives of the function, or report the compiler that wrote them.",
        source: "V3 2.4; DWARF 5 6.4.1; AMD64 psABI 3.2.2; AAPCS64 6.4",
        example: "assembly that pushes a register without .cfi_adjust_cfa_offset",
    },
};
