use super::blocks_overlap;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::TotalContext;

pub(super) static RULE: Rule = Rule {
    name: "rows-unused",
    group: Group::Rows,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "every byte of the FRE sub-section belongs to a function's rows",
        consequence: "The bytes are unused, or they are rows of a function whose number of rows \
                      is too small.",
        remedy: "Correct the number of rows of the function before the gap.",
        source: "V3 2.2 (\"tile the SFrame section\"); observed: no producer leaves gaps",
        example: "a section with 3 bytes after its only function's rows, inside sfh_fre_len",
    },
};

pub(super) fn check(total: &TotalContext<'_>, report: &mut Reporter<'_>) {
    // If rows are unread or shared, unused bytes are a consequence.
    if !total.totals.complete || blocks_overlap(total) {
        return;
    }
    let header = total.whole.header();
    for (start, end) in total.extents.unused(header.fre_len) {
        let base = header.fre_start();
        report.bytes(
            base + u64::from(start)..base + u64::from(end),
            format_args!("bytes {start:#x}..{end:#x} of the FRE sub-section belong to no function"),
        );
    }
}
