use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::FunctionField;
use crate::subject::FunctionContext;
use crate::subject::shape::FunctionShape;

pub(super) static RULE: Rule = Rule {
    name: "function-without-rows",
    group: Group::Functions,
    severity: Severity::Warning,
    versions: Versions::UP_TO_2,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "up to version 2, every function has a row",
        consequence: "Look-ups find the function, but no row: the trace ends there with an error.",
        remedy: "Leave out functions that cannot be described.",
        source: "observed: GNU as up to 2.44 never writes such an entry; libsframe fails on it",
        example: "a version 2 function with 0 rows beside one with 1",
    },
};

pub(super) fn check(
    shape: &FunctionShape,
    function: &FunctionContext<'_>,
    report: &mut Reporter<'_>,
) {
    let Some(attributes) = shape.attributes else { return };
    // A separate rule covers sections without any row.
    if !attributes.has_rows && function.whole.header().num_fres > 0 {
        report.field(
            function.field(FunctionField::NumFres),
            0,
            "at least 1",
            format_args!("the function has no rows"),
        );
    }
}
