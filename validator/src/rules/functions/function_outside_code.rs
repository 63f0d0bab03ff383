use super::is_tombstone;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::{CodeAddress, FunctionField};
use crate::subject::{FileKind, FunctionContext};

pub(super) static RULE: Rule = Rule {
    name: "function-outside-code",
    group: Group::Functions,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    page: Page {
        summary: "a function of a linked file starts in executable code",
        consequence: "The kernel rejects the whole section; other readers keep rows for data, \
                      and have none for the function that was meant.",
        remedy: "Check how the start field was relocated: against the field or against the \
                 section.",
        source: "observed: the kernel's patches check every start against the text range",
        example: "a shared object whose function starts in .data",
    },
};

pub(super) fn check(function: &FunctionContext<'_>, report: &mut Reporter<'_>) {
    let Ok(start) = function.start else { return };
    let linked = function.whole.kind == FileKind::Linked && function.code.is_known();
    let tombstone = is_tombstone(function, start);
    // A function of size 0 may be at the very end of a section.
    let before = start.address.saturating_sub(1);
    let at_end = function.entry.size() == 0
        && function.code.containing(CodeAddress::absolute(before)).is_some();
    if linked && !tombstone && function.code.containing(start).is_none() && !at_end {
        report.field(
            function.field(FunctionField::Start),
            format_args!("{:#x}", start.address),
            "an address in an executable section",
            format_args!("the function starts at {:#x}, where no code is", start.address),
        );
    }
}
