use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::FunctionField;
use crate::subject::FunctionContext;
use crate::subject::shape::FunctionShape;

pub(super) static RULE: Rule = Rule {
    name: "function-size-zero",
    group: Group::Functions,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "a function has code: its size is not 0",
        consequence: "No PC is in the function, so its rows are never used. If another function \
                      has the same start, libsframe may find this one instead, and the kernel's \
                      validation refuses the section.",
        remedy: "Leave out functions without code.",
        source: "observed: GNU as and ld keep GCC's empty cold parts; LLVM leaves them out",
        example: "a function of 0 bytes",
    },
};

pub(super) fn check(
    shape: &FunctionShape,
    function: &FunctionContext<'_>,
    report: &mut Reporter<'_>,
) {
    if shape.is_empty {
        report.field(
            function.field(FunctionField::Size),
            0,
            "at least 1",
            format_args!("the function is 0 bytes long"),
        );
    }
}
