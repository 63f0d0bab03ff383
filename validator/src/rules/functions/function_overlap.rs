use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::FunctionField;
use crate::subject::TotalContext;
use crate::subject::extents::Overlap;

pub(super) static RULE: Rule = Rule {
    name: "function-overlap",
    group: Group::Functions,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "no byte of code belongs to two functions",
        consequence: "Which of the two a reader finds for a PC is left to chance.",
        remedy: "Correct the start or the size of one of them, or remove the entry of a discarded \
                 function.",
        source: "V3 2.3; observed: readers take the last entry that starts at or before the PC",
        example: "functions at 0x1000 and 0x1008, 16 bytes each",
    },
};

pub(super) fn check(total: &TotalContext<'_>, report: &mut Reporter<'_>) {
    let section = total.whole.section;
    for Overlap { before, first, count } in total.extents.overlapping_code() {
        if count > 1 {
            let Some(entry) = section.entry(before.index) else { continue };
            report.about(before.function()).field(
                entry.field(FunctionField::Size),
                format_args!("{:#x}", before.size),
                format_args!("at most {:#x}", first.start.address - before.start.address),
                format_args!(
                    "function #{} at {:#x} ({:#x} bytes) overlaps {count} others",
                    before.index, before.start.address, before.size
                ),
            );
            continue;
        }
        let Some(entry) = section.entry(first.index).filter(|_| !before.equals(&first)) else {
            continue;
        };
        report.about(first.function()).field(
            entry.field(FunctionField::Start),
            format_args!("{:#x}", first.start.address),
            format_args!("at least {:#x}", before.end().address),
            format_args!(
                "function #{} at {:#x} starts inside function #{}, {:#x}..{:#x}",
                first.index,
                first.start.address,
                before.index,
                before.start.address,
                before.end().address
            ),
        );
    }
}
