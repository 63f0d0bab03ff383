use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::{FunctionField, Version};
use crate::subject::FunctionContext;
use crate::subject::shape::FunctionShape;

pub(super) static RULE: Rule = Rule {
    name: "function-info-reserved",
    group: Group::Functions,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the unused bits of the info byte are zero: 6 and 7, or only 6 in version 3",
        consequence: "A later version may give them a meaning; version 3 did so with bit 7.",
        remedy: "Write 0.",
        source: "V1 1.3.1, V2 2.3.1, V3 2.3.3",
        example: "a function with info byte 0x40",
    },
};

pub(super) fn check(
    shape: &FunctionShape,
    function: &FunctionContext<'_>,
    report: &mut Reporter<'_>,
) {
    let Some(attributes) = shape.attributes else { return };
    let unused = match function.whole.header().version {
        Version::V1 | Version::V2 => 0xc0,
        Version::V3 => 0x40,
    };
    let info = attributes.info.0;
    if info & unused != 0 {
        report.field(
            function.field(FunctionField::Info),
            format_args!("{info:#04x}"),
            format_args!("bits {unused:#04x} clear"),
            format_args!("unused bits {:#04x} of the info byte are set", info & unused),
        );
    }
}
