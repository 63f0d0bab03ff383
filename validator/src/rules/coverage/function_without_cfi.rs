use alloc::vec::Vec;

use crate::elf::{Elf, SearchTable};
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::FunctionField;
use crate::subject::{FileKind, TotalContext};

pub(super) static RULE: Rule = Rule {
    name: "function-without-cfi",
    group: Group::Coverage,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "a function starts where .eh_frame_hdr lists a function",
        consequence: "The entry was not made from CFI of this file, or its start is wrong. \
                      Debuggers see another function there, or none.",
        remedy: "Compare with the file's .eh_frame.",
        source: "LSB 5.0, 10.6.2 (.eh_frame_hdr); observed: assemblers make entries from CFI alone",
        example: "a shared object whose .eh_frame_hdr has the first of two functions",
    },
};

pub(super) fn check(total: &TotalContext<'_>, report: &mut Reporter<'_>) {
    let linked = total.whole.kind == FileKind::Linked;
    let Some(facts) = total.facts.filter(|_| linked) else { return };
    let known = facts.cfi_starts.get_or_init(|| starts(facts.elf));
    let Some(starts) = known else { return };
    for extent in total.extents.code.iter().filter(|extent| extent.size > 0) {
        let Some(entry) = total.whole.section.entry(extent.index) else { continue };
        // In a stub section, CFI describes the first entry, and all others together.
        let stub = facts.in_stubs(extent.start, extent.size);
        if !stub && starts.binary_search(&extent.start.address).is_err() {
            report.about(extent.function()).field(
                entry.field(FunctionField::Start),
                format_args!("{:#x}", extent.start.address),
                "the start of a function in .eh_frame_hdr",
                format_args!(
                    "function #{} starts at {:#x}, where .eh_frame_hdr lists no function",
                    extent.index, extent.start.address
                ),
            );
        }
    }
}

/// The starts of all functions in the table, in ascending order. `None` if the file has no table that can be read.
fn starts(elf: &Elf<'_>) -> Option<Vec<u64>> {
    let table = elf.search_table()?.ok().filter(SearchTable::has_entries)?;
    let mut starts: Vec<u64> = table.entries().ok()?.map(|entry| entry.start).collect();
    starts.sort_unstable();
    Some(starts)
}
