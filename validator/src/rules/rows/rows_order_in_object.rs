use super::blocks_overlap;
use crate::finding::FunctionId;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::FunctionField;
use crate::subject::{FileKind, TotalContext};

pub(super) static RULE: Rule = Rule {
    name: "rows-order-in-object",
    group: Group::Rows,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "in a relocatable object, the rows are in the order of the functions",
        consequence: "None known. No known producer writes such an object.",
        remedy: "None needed.",
        source: "observed: GNU as, LLVM and mold",
        example: "an object of 2 functions, the second one's rows first",
    },
};

pub(super) fn check(total: &TotalContext<'_>, report: &mut Reporter<'_>) {
    if total.whole.kind != FileKind::Relocatable || blocks_overlap(total) {
        return;
    }
    let mut highest = 0;
    for block in &total.extents.blocks {
        if block.index < highest
            && let Some(entry) = total.whole.section.entry(block.index)
        {
            report.about(FunctionId::of(&entry)).field(
                entry.field(FunctionField::FreOffset),
                format_args!("{:#x}", block.start),
                format_args!("below those of function #{highest}"),
                format_args!(
                    "the rows of function #{} follow those of function #{highest}",
                    block.index
                ),
            );
        }
        highest = highest.max(block.index);
    }
}
