use alloc::vec::Vec;

use crate::finding::FunctionId;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::FunctionField;
use crate::subject::{FileKind, TotalContext};

pub(super) static RULE: Rule = Rule {
    name: "function-hidden",
    group: Group::Functions,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "no function without code follows another one with the same start in a sorted \
                  table",
        consequence: "Readers search for the last function that starts at or before a PC, and find \
                      the one without code. They have no row for any PC of the other, or, as \
                      libsframe 2.47 may, a row of the wrong function: stack walks end there or go \
                      astray.",
        remedy: "Leave out functions without code, such as GCC's empty cold parts.",
        source: "observed: GNU ld leaves such functions out of .eh_frame_hdr, and keeps them here",
        example: "functions at 0x1000, the first of 16 bytes, the second of 0",
    },
};

pub(super) fn check(total: &TotalContext<'_>, report: &mut Reporter<'_>) {
    let whole = total.whole;
    if whole.kind == FileKind::Relocatable {
        return;
    }
    let mut hidden: Vec<_> = whole.section.hidden_functions().collect();
    // Of several functions with code, it is the last that would be found; they overlap, which is another defect.
    hidden.dedup_by_key(|(_, found)| found.index());
    for (entry, found) in hidden.iter().rev() {
        let Ok(start) = entry.start() else { continue };
        let (index, size) = (entry.index(), entry.size());
        report.about(FunctionId::of(entry)).field(
            entry.field(FunctionField::Start),
            format_args!("{:#x}", start.address),
            "a start that no later function without code has",
            format_args!(
                "a search misses the {size} bytes of function #{index}: function #{} has the same start, \
                 no bytes, and a later place in the table",
                found.index()
            ),
        );
    }
}
