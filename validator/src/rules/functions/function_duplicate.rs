use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::FunctionField;
use crate::subject::TotalContext;
use crate::subject::extents::Overlap;

pub(super) static RULE: Rule = Rule {
    name: "function-duplicate",
    group: Group::Functions,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "no two entries describe the same code",
        consequence: "Which of the two a reader finds is left to chance; the kernel's validation \
                      refuses the section.",
        remedy: "Keep one of the entries.",
        source: "V3 2.3; observed: the kernel's patches require strictly ascending starts",
        example: "two functions at 0x1000, 16 bytes each",
    },
};

pub(super) fn check(total: &TotalContext<'_>, report: &mut Reporter<'_>) {
    let section = total.whole.section;
    for Overlap { before, first, count } in total.extents.overlapping_code() {
        let duplicate = count == 1 && before.equals(&first);
        let Some(entry) = section.entry(first.index).filter(|_| duplicate) else { continue };
        report.about(first.function()).field(
            entry.field(FunctionField::Start),
            format_args!("{:#x}", first.start.address),
            "one entry for a function",
            format_args!(
                "function #{} describes the same code as function #{}",
                first.index, before.index
            ),
        );
    }
}
