//! `sframe-contradicts-code`.

use super::ABIS;
use sframe_validator::rules::{Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "sframe-contradicts-code",
    group: Group::Code,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: ABIS,
    about_tools: false,
    page: Page {
        summary: "rows say what the instructions of the function do",
        consequence: "A stack trace takes another word for the return address or for the caller's \
                      registers, and ends, or continues in code that is not the caller.",
        remedy: "The instructions before the place that is shown prove the true frame. Correct the CFI \
                 directives from which the section was made, or report the producer that converts \
                 them to a different row.",
        source: "V3 2.4; AMD64 psABI 3.2.2; AAPCS64 6.4",
        example: "a row with CFA = SP+8 after an instruction that pushes a register",
    },
};
