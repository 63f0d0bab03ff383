use core::cmp::Ordering;

use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::FunctionField;
use crate::subject::shape::FunctionShape;
use crate::subject::{FileKind, FunctionContext};

pub(super) static RULE: Rule = Rule {
    name: "function-order",
    group: Group::Functions,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the functions of a table flagged as sorted are in the order of their addresses",
        consequence: "Binary search misses functions: their frames cannot be unwound.",
        remedy: "Sort by the resolved address (PC-relative fields are not monotonic themselves), \
                 or clear SFRAME_F_FDE_SORTED.",
        source: "V3 2.1.3, 2.3.1; observed: libsframe and the kernel search by resolved address",
        example: "a sorted table with functions at 0x1010 and 0x1000",
    },
};

pub(super) fn check(
    shape: &FunctionShape,
    function: &FunctionContext<'_>,
    report: &mut Reporter<'_>,
) {
    let (Some(place), Ok(start)) = (shape.start, function.start) else { return };
    let whole = function.whole;
    if place.order == Some(Ordering::Less)
        && let Some(before) = function.previous
        && whole.header().flags.sorted()
        && whole.kind != FileKind::Relocatable
    {
        report.field(
            function.field(FunctionField::Start),
            format_args!("{:#x}", start.address),
            format_args!("at least {:#x}", before.address),
            format_args!(
                "the flags say that the table is sorted, but function #{} at {:#x} follows one at \
                 {:#x}",
                function.entry.index(),
                start.address,
                before.address
            ),
        );
    }
}
