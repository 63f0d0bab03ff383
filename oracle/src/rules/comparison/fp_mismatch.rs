//! `fp-mismatch`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "fp-mismatch",
    group: Group::Comparison,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "rows find the caller's frame pointer where CFI finds it",
        consequence: "The frame itself is found, but a caller whose CFA is based on FP is not, \
                      and the trace is wrong from there on.",
        remedy: "Correct the directives for the frame pointer, or report the producer.",
        source: "V3 3.1, 3.2; DWARF 5 6.4.2.3; observed: GNU as loses the changes of the row before \
                 a remember_state",
        example: "a row without an FP word where CFI says that FP is at CFA-16",
    },
};
