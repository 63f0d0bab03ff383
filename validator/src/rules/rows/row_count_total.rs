use super::blocks_overlap;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::field;
use crate::subject::TotalContext;

pub(super) static RULE: Rule = Rule {
    name: "row-count-total",
    group: Group::Rows,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the header's number of rows is the sum of those of the functions",
        consequence: "In a section of the other byte order, libsframe swaps that many rows: too \
                      few, or bytes past the section's end.",
        remedy: "Correct sfh_num_fres.",
        source: "V3 2.2; observed: libsframe 2.47",
        example: "a section of 1 row whose header says 2",
    },
};

pub(super) fn check(total: &TotalContext<'_>, report: &mut Reporter<'_>) {
    let stored = total.whole.header().num_fres;
    // If there is a gap or an overlap, a function's count is wrong, and not the header's.
    let tiled = !blocks_overlap(total)
        && total.extents.unused(total.whole.header().fre_len).next().is_none();
    if total.totals.complete && tiled && u64::from(stored) != total.totals.rows {
        report.field(
            field::NUM_FRES,
            stored,
            total.totals.rows,
            format_args!(
                "the header says {stored} rows, but the functions have {}",
                total.totals.rows
            ),
        );
    }
}
