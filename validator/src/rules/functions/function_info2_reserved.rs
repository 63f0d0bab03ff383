use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::FunctionField;
use crate::subject::FunctionContext;
use crate::subject::SectionContext;
use crate::subject::shape::FunctionShape;

pub(super) static RULE: Rule = Rule {
    name: "function-info2-reserved",
    group: Group::Functions,
    severity: Severity::Warning,
    versions: Versions::V3,
    abis: Abis::ALL,
    page: Page {
        summary: "the unused bits 5 to 7 of the second info byte are zero",
        consequence: "A later version may give them a meaning.",
        remedy: "Write 0.",
        source: "V3 2.3.3",
        example: "a function with a second info byte 0x20",
    },
};

pub(super) fn is_broken(function: &FunctionShape, _: &SectionContext<'_>) -> bool {
    function.attributes.is_some_and(|attributes| attributes.info2.0 & 0xe0 != 0)
}

pub(super) fn report(function: &FunctionContext<'_>, report: &mut Reporter<'_>) {
    let Some(readable) = function.readable() else { return };
    let info2 = readable.attributes().info2.0;
    report.field(
        function.field(FunctionField::Info2),
        format_args!("{info2:#04x}"),
        "bits 0xe0 clear",
        format_args!("unused bits {:#04x} of the second info byte are set", info2 & 0xe0),
    );
}
