use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::FunctionField;
use crate::subject::FunctionContext;
use crate::subject::shape::FunctionShape;

pub(super) static RULE: Rule = Rule {
    name: "function-info2-reserved",
    group: Group::Functions,
    severity: Severity::Warning,
    versions: Versions::V3,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the unused bits 5 to 7 of the second info byte are zero",
        consequence: "A later version may give them a meaning.",
        remedy: "Write 0.",
        source: "V3 2.3.3",
        example: "a function with a second info byte 0x20",
    },
};

pub(super) fn check(
    shape: &FunctionShape,
    function: &FunctionContext<'_>,
    report: &mut Reporter<'_>,
) {
    let Some(attributes) = shape.attributes else { return };
    let (info2, unused) = (attributes.info2.0, attributes.info2.0 & 0xe0);
    if unused != 0 {
        report.field(
            function.field(FunctionField::Info2),
            format_args!("{info2:#04x}"),
            "bits 0xe0 clear",
            format_args!("unused bits {unused:#04x} of the second info byte are set"),
        );
    }
}
