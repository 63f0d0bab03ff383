use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::FunctionField;
use crate::subject::FunctionContext;
use crate::subject::shape::FunctionShape;

pub(super) static RULE: Rule = Rule {
    name: "flex-abi",
    group: Group::Functions,
    severity: Severity::Warning,
    versions: Versions::V3,
    abis: Abis::AARCH64,
    about_tools: false,
    page: Page {
        summary: "only AMD64 and s390x have functions of FDE type FLEX",
        consequence: "Readers for AArch64 may not know the type: no producer writes it there.",
        remedy: "Write FDE type DEFAULT if the rows allow it.",
        source: "observed: GNU as 2.47 writes FLEX only for AMD64 and s390x",
        example: "an AArch64 function of FDE type FLEX",
    },
};

pub(super) fn check(
    shape: &FunctionShape,
    function: &FunctionContext<'_>,
    report: &mut Reporter<'_>,
) {
    let Some(attributes) = shape.attributes else { return };
    if attributes.is_flexible() && attributes.has_rows {
        report.field(
            function.field(FunctionField::Info2),
            format_args!("{:#04x}", attributes.info2.0),
            "0 (DEFAULT)",
            format_args!("an AArch64 function has FDE type FLEX"),
        );
    }
}
