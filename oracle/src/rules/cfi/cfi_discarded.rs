//! `cfi-discarded`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "cfi-discarded",
    group: Group::Cfi,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "an FDE's function is in the object",
        consequence: "None: the entry describes no code. It takes up space in everything it is linked into.",
        remedy: "Nothing to do; ld -r keeps such entries when it drops a copy of a function.",
        source: "observed: GNU ld -r writes R_*_NONE for the start",
        example: "ld -r of two objects with the same inline function",
    },
};
