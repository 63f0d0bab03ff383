use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::FunctionField;
use crate::subject::FunctionContext;
use crate::subject::shape::FunctionShape;

pub(super) static RULE: Rule = Rule {
    name: "pauth-key",
    group: Group::Functions,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::AMD64.or(Abis::S390X),
    about_tools: false,
    page: Page {
        summary: "the pointer-authentication key bit is clear on machines without such keys",
        consequence: "None known; the bit is unused on AMD64 and s390x.",
        remedy: "Clear bit 5 of the info byte.",
        source: "V3 2.3.3",
        example: "an AMD64 function with info byte 0x20",
    },
};

pub(super) fn check(
    shape: &FunctionShape,
    function: &FunctionContext<'_>,
    report: &mut Reporter<'_>,
) {
    let Some(attributes) = shape.attributes else { return };
    let info = attributes.info;
    if info.pauth_key_b() {
        report.field(
            function.field(FunctionField::Info),
            format_args!("{:#04x}", info.0),
            "bit 0x20 clear",
            format_args!(
                "the function's return addresses are marked as signed with AArch64's B key"
            ),
        );
    }
}
