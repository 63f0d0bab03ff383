use super::{code, covered};
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::TotalContext;

pub(super) static RULE: Rule = Rule {
    name: "symbol-uncovered",
    group: Group::Coverage,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "every function symbol's code has an entry",
        consequence: "Stack traces end in the function.",
        remedy: "Give hand-written assembly CFI; look at the assembler's warnings for the \
                 function.",
        source: "observed: GNU as writes no entry for functions whose CFI it cannot express",
        example: "a shared object with a function symbol that no entry covers",
    },
};

pub(super) fn check(total: &TotalContext<'_>, report: &mut Reporter<'_>) {
    let Some(facts) = total.facts else { return };
    let code = code(total.extents);
    for symbol in facts.symbols.symbols() {
        if symbol.size > 0 && !covered(&code, symbol.start) {
            report.file(format_args!(
                "function {} at {:#x} ({:#x} bytes) has no entry",
                symbol.name, symbol.start.address, symbol.size
            ));
        }
    }
}
