use crate::page::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "confirmed-oddity",
    group: Group::Content,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "a row has ordinary values, even if the CFI has the same unusual ones",
        consequence: "None for a reader that accepts the row: the CFI has the same values at \
                      every PC of the row, so this is what the code does. Readers that refuse \
                      unusual values lose the frame. The message names the rule that the row \
                      would otherwise break.",
        remedy: "None is needed. If the code and its CFI were written by hand, they can be \
                 changed.",
        source: "observed: code that moves SP by an unusual amount, stores above its frame, or \
                 restores SP by means other than FP (nonlocal goto). A CFA below SP, and a slot \
                 where signal handlers write, are not confirmed: no code has them",
        example: "an AMD64 row that says CFA = SP + 12, as the CFI does",
    },
};
