use crate::page::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "confirmed-oddity",
    group: Group::Content,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    page: Page {
        summary: "a row has ordinary values, also where the CFI has the same ones",
        consequence: "None for a reader that takes the row as it is: the CFI says the same at \
                      every PC of the row, so the code does what the row says. Readers that refuse \
                      odd values lose the frame. The message names the rule that the row would \
                      break.",
        remedy: "None; or change the code or its CFI, where both were written by hand.",
        source: "observed: code that moves SP by an odd amount, that stores above its frame, or \
                 that restores SP by other means than FP (nonlocal goto)",
        example: "an AMD64 row that says CFA = SP + 12, as the CFI does",
    },
};
