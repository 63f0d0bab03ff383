//! `fp-mismatch`.

use sframe_validator::rules::{Group, Page, Rule, Severity};

pub(crate) static RULE: Rule = Rule::elsewhere(
    "fp-mismatch",
    Group::Comparison,
    Severity::Error,
    Page {
        summary: "rows find the caller's frame pointer where CFI finds it",
        consequence: "The frame itself is found. A caller whose CFA counts from FP is not, and the trace is \
                      wrong from there on.",
        remedy: "Correct the directives for the frame pointer, or report the producer.",
        source: "V3 2.4.2; DWARF 5 6.4.2.3; observed: GNU as forgets what the row before a remember_state changed",
        example: "a row without an FP word where CFI says that FP is at CFA-16",
    },
);
