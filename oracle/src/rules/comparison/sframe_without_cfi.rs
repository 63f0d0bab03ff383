//! `sframe-without-cfi`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "sframe-without-cfi",
    group: Group::Comparison,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "code that SFrame describes has CFI as well, in a file that has any",
        consequence: "Nothing shows that the rows are right. If the entry is out of place, a \
                      reader applies another function's rows.",
        remedy: "Check whether the function's start and size are right; a linker that makes stubs with rows \
                 and without CFI says so in its documentation.",
        source: "V3 2.3.1; observed: every assembler makes SFrame from the function's CFI",
        example: "an entry that was relocated to the gap after its function",
    },
};
