use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::FunctionField;
use crate::subject::FunctionContext;
use crate::subject::shape::FunctionShape;

pub(super) static RULE: Rule = Rule {
    name: "function-padding",
    group: Group::Functions,
    severity: Severity::Warning,
    versions: Versions::V2,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the entry's padding is zero",
        consequence: "Uninitialised memory of the producer may have been written to the file.",
        remedy: "Clear the padding before the entry is written.",
        source: "V2 2.3",
        example: "a version 2 function with padding 0xbeef",
    },
};

pub(super) fn check(
    shape: &FunctionShape,
    function: &FunctionContext<'_>,
    report: &mut Reporter<'_>,
) {
    let Some(attributes) = shape.attributes else { return };
    let padding = attributes.padding;
    if padding != 0 {
        report.field(
            function.field(FunctionField::Padding),
            format_args!("{padding:#06x}"),
            "0",
            format_args!("the entry's padding is not zero"),
        );
    }
}
