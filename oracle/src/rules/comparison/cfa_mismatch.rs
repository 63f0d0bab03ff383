//! `cfa-mismatch`.

use sframe_validator::rules::{Group, Page, Rule, Severity};

pub(crate) static RULE: Rule = Rule::elsewhere(
    "cfa-mismatch",
    Group::Comparison,
    Severity::Error,
    Page {
        summary: "rows give the CFA that CFI gives",
        consequence: "Everything else is found from the CFA: a stack trace takes another word of the stack \
                      for the return address, and ends or goes on in code that never called.",
        remedy: "The instructions of the range show which side is right. Correct the CFI directives, or \
                 report the producer that makes a row from them that says something else.",
        source: "V3 2.4; DWARF 5 6.4.1",
        example: "the row of a stub in .plt.got with CFA = SP+16 where CFI says SP+8",
    },
);
