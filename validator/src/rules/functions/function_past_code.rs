use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::FunctionField;
use crate::subject::FunctionContext;
use crate::subject::shape::{CodePlace, FunctionShape};

pub(super) static RULE: Rule = Rule {
    name: "function-past-code",
    group: Group::Functions,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
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

pub(super) fn check(
    shape: &FunctionShape,
    function: &FunctionContext<'_>,
    report: &mut Reporter<'_>,
) {
    let (Some(place), Ok(start)) = (shape.start, function.start) else { return };
    let size = function.entry.size();
    if place.wraps {
        report.field(
            function.field(FunctionField::Size),
            format_args!("{size:#x}"),
            format_args!("at most {:#x}", u64::MAX - start.address),
            format_args!("the function of {size:#x} bytes ends past the address space"),
        );
    } else if place.code == CodePlace::PastEnd
        && let Some(range) = function.code.containing(start)
    {
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
