use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::FunctionContext;
use crate::subject::SectionContext;
use crate::subject::shape::FunctionShape;

pub(super) static RULE: Rule = Rule {
    name: "flex-abi",
    group: Group::Functions,
    severity: Severity::Warning,
    versions: Versions::V3,
    abis: Abis::AARCH64,
    page: Page {
        summary: "only AMD64 and s390x have functions of FDE type FLEX",
        consequence: "Readers for AArch64 may not know the type: no producer writes it there.",
        remedy: "Write FDE type DEFAULT if the rows allow it.",
        source: "observed: GNU as 2.47 writes FLEX only for AMD64 and s390x",
        example: "an AArch64 function of FDE type FLEX",
    },
};

pub(super) fn is_broken(function: &FunctionShape, _: &SectionContext<'_>) -> bool {
    let Some(attributes) = function.attributes else { return false };
    attributes.is_flexible() && attributes.has_rows
}

pub(super) fn report(function: &FunctionContext<'_>, report: &mut Reporter<'_>) {
    let Some(readable) = function.readable() else { return };
    report.field(
        function.field(crate::section::FunctionField::Info2),
        format_args!("{:#04x}", readable.attributes().info2.0),
        "0 (DEFAULT)",
        format_args!("an AArch64 function has FDE type FLEX"),
    );
}
