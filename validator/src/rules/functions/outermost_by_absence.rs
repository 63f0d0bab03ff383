use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::{FunctionField, FunctionInfo};
use crate::subject::FunctionContext;
use crate::subject::shape::FunctionShape;

pub(super) static RULE: Rule = Rule {
    name: "outermost-by-absence",
    group: Group::Functions,
    severity: Severity::Lint,
    versions: Versions::V3,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "a function without rows is meant to be an outermost frame",
        consequence: "A stack trace ends there as if it were complete. GNU as also writes such an \
                      entry for a function whose CFI it cannot express.",
        remedy: "Look at the function's CFI: only an undefined return address makes it outermost.",
        source: "V3 1.2; observed: GNU as 2.47 for .cfi_startproc simple without rules",
        example: "a function with 0 rows that is not a signal frame",
    },
};

pub(super) fn check(
    shape: &FunctionShape,
    function: &FunctionContext<'_>,
    report: &mut Reporter<'_>,
) {
    let Some(attributes) = shape.attributes else { return };
    let ordinary = !attributes.is_flexible() && attributes.info.0 & FunctionInfo::SIGNAL == 0;
    if ordinary && !attributes.has_rows {
        report.field(
            function.field(FunctionField::NumFres),
            0,
            "at least 1, unless outermost",
            format_args!("the function has no rows, so readers treat it as the outermost frame"),
        );
    }
}
