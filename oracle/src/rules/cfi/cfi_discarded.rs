//! `cfi-discarded`.

use sframe_validator::rules::{Group, Page, Rule, Severity};

pub(crate) static RULE: Rule = Rule::elsewhere(
    "cfi-discarded",
    Group::Cfi,
    Severity::Lint,
    Page {
        summary: "an FDE's function is in the object",
        consequence: "None: the entry describes no code. It takes up space in everything it is linked into.",
        remedy: "Nothing to do; ld -r keeps such entries when it drops a copy of a function.",
        source: "observed: GNU ld -r writes R_*_NONE for the start",
        example: "ld -r of two objects with the same inline function",
    },
);
