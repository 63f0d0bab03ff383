//! `cfa-mismatch`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "cfa-mismatch",
    group: Group::Comparison,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "rows give the same CFA as CFI",
        consequence: "Everything else is found from the CFA. A stack trace mistakes another word \
                      of the stack for the return address, and ends, or continues in code that is \
                      not the caller.",
        remedy: "The instructions of the range show which side is right. Correct the CFI \
                 directives, or report the producer that converts them to a different row.",
        source: "V3 2.4; DWARF 5 6.4.1",
        example: "the row of a stub in .plt.got with CFA = SP+16 where CFI says SP+8",
    },
};
