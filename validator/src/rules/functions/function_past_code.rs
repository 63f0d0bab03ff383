use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::FunctionField;
use crate::subject::FunctionContext;
use crate::subject::SectionContext;
use crate::subject::shape::{CodePlace, FunctionShape};

pub(super) static RULE: Rule = Rule {
    name: "function-past-code",
    group: Group::Functions,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    page: Page {
        summary: "a function ends in the executable section it starts in",
        consequence: "The kernel rejects the whole section; the function's rows are found for PCs \
                      of other code.",
        remedy: "Correct the function's size.",
        source: "observed: the kernel's patches; GNU as takes the size from the function's own \
                 labels",
        example: "an object whose function is longer than .text",
    },
};

pub(super) fn is_broken(function: &FunctionShape, _: &SectionContext<'_>) -> bool {
    function.start.is_some_and(|start| start.wraps || start.code == CodePlace::PastEnd)
}

pub(super) fn report(function: &FunctionContext<'_>, report: &mut Reporter<'_>) {
    let Ok(start) = function.start else { return };
    let size = function.entry.size();
    if start.address.checked_add(u64::from(size)).is_none() {
        report.field(
            function.field(FunctionField::Size),
            format_args!("{size:#x}"),
            format_args!("at most {:#x}", u64::MAX - start.address),
            format_args!("the function of {size:#x} bytes ends past the address space"),
        );
        return;
    }
    let Some(range) = function.code.containing(start) else { return };
    if !range.contains(start, u64::from(size)) {
        let room = range.size - (start.address - range.start.address);
        report.field(
            function.field(FunctionField::Size),
            format_args!("{size:#x}"),
            format_args!("at most {room:#x}"),
            format_args!(
                "the function of {size:#x} bytes ends {:#x} bytes past its section",
                u64::from(size) - room
            ),
        );
    }
}
