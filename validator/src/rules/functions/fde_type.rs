use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::{FunctionField, FunctionInfo2};
use crate::subject::FunctionContext;
use crate::subject::shape::FunctionShape;

pub(super) static RULE: Rule = Rule {
    name: "fde-type",
    group: Group::Functions,
    severity: Severity::Error,
    versions: Versions::V3,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the FDE type is 0 (DEFAULT) or 1 (FLEX)",
        consequence: "The meaning of the data words is unknown. The kernel refuses the function, \
                      but libsframe silently reads it as a default one.",
        remedy: "Write 0 or 1.",
        source: "V3 2.3.3.2; observed: libsframe 2.47, the kernel's patches",
        example: "a function of FDE type 2",
    },
};

pub(super) fn check(
    shape: &FunctionShape,
    function: &FunctionContext<'_>,
    report: &mut Reporter<'_>,
) {
    let Some(attributes) = shape.attributes else { return };
    let info2 = attributes.info2;
    if info2.fde_type_code() > FunctionInfo2::FLEX {
        report.field(
            function.field(FunctionField::Info2),
            format_args!("{:#04x}", info2.0),
            "0 or 1 in bits 0 to 4",
            format_args!("the FDE type is {}, which does not exist", info2.fde_type_code()),
        );
    }
}
