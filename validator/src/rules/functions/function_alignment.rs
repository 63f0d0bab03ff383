use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::FunctionField;
use crate::subject::FunctionContext;
use crate::subject::shape::FunctionShape;

pub(super) static RULE: Rule = Rule {
    name: "function-alignment",
    group: Group::Functions,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::AARCH64.or(Abis::S390X),
    about_tools: false,
    page: Page {
        summary: "a function starts at a possible instruction address: a multiple of 4, on s390x \
                  of 2",
        consequence: "No PC ever equals the function's start, and all its rows are misplaced.",
        remedy: "Check how the start field was computed.",
        source: "the machines' instruction sets",
        example: "an AArch64 function at 0x1002",
    },
};

pub(super) fn check(
    shape: &FunctionShape,
    function: &FunctionContext<'_>,
    report: &mut Reporter<'_>,
) {
    let (Some(place), Ok(start), Some(abi)) = (shape.start, function.start, function.abi()) else {
        return;
    };
    if !place.is_aligned {
        let alignment = abi.instruction_alignment();
        report.field(
            function.field(FunctionField::Start),
            format_args!("{:#x}", start.address),
            format_args!("a multiple of {alignment}"),
            format_args!(
                "the function starts at {:#x}, which is not a possible instruction address on \
                 {abi}",
                start.address
            ),
        );
    }
}
