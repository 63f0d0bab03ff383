use super::code;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::FunctionField;
use crate::subject::TotalContext;

pub(super) static RULE: Rule = Rule {
    name: "function-size-symbol",
    group: Group::Coverage,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "an entry that starts at a symbol has the symbol's size",
        consequence: "A part of the function has no rows, or its rows are applied to the code \
                      after it. Legitimate for functions with more than one CFI procedure.",
        remedy: "Compare the labels of .size and .cfi_endproc.",
        source: "observed: compilers put both at the function's end",
        example: "an entry of 8 bytes for a function symbol of 16",
    },
};

pub(super) fn check(total: &TotalContext<'_>, report: &mut Reporter<'_>) {
    let Some(facts) = total.facts else { return };
    let symbols = facts.symbols.symbols();
    let mut code = code(total.extents);
    // Only one of several functions at the same place is compared. Having several is a defect that another rule
    // reports.
    code.dedup_by_key(|extent| extent.start);
    for extent in &code {
        let first = symbols.partition_point(|symbol| symbol.start < extent.start);
        let mut here = symbols
            .get(first..)
            .unwrap_or_default()
            .iter()
            .take_while(|symbol| symbol.start == extent.start)
            .filter(|symbol| symbol.size > 0)
            .peekable();
        let Some(named) = here.peek().copied() else { continue };
        let Some(entry) = total.whole.section.entry(extent.index) else { continue };
        if here.all(|symbol| symbol.size != u64::from(extent.size)) {
            report.field(
                entry.field(FunctionField::Size),
                format_args!("{:#x}", extent.size),
                format_args!("{:#x}", named.size),
                format_args!(
                    "function #{} has {:#x} bytes, but its symbol {} has {:#x}",
                    extent.index, extent.size, named.name, named.size
                ),
            );
        }
    }
}
