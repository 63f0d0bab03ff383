use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::FunctionField;
use crate::subject::FunctionContext;
use crate::subject::shape::FunctionShape;

pub(super) static RULE: Rule = Rule {
    name: "flexible-without-rows",
    group: Group::Functions,
    severity: Severity::Warning,
    versions: Versions::V3,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "a function of FDE type FLEX has rows",
        consequence: "The absence of rows has a meaning only for FDE type DEFAULT: the outermost \
                      frame.",
        remedy: "Write FDE type DEFAULT.",
        source: "V3 1.2",
        example: "a function of FDE type FLEX with 0 rows",
    },
};

pub(super) fn check(
    shape: &FunctionShape,
    function: &FunctionContext<'_>,
    report: &mut Reporter<'_>,
) {
    let Some(attributes) = shape.attributes else { return };
    if attributes.is_flexible() && !attributes.has_rows {
        report.field(
            function.field(FunctionField::Info2),
            format_args!("{:#04x}", attributes.info2.0),
            "0 (DEFAULT)",
            format_args!("the function has FDE type FLEX, but no rows"),
        );
    }
}
