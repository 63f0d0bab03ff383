use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::FunctionField;
use crate::subject::FunctionContext;
use crate::subject::shape::FunctionShape;

pub(super) static RULE: Rule = Rule {
    name: "repeat-size-unused",
    group: Group::Functions,
    severity: Severity::Lint,
    versions: Versions::SINCE_2,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "functions whose rows do not repeat have no block size",
        consequence: "None: readers use the size only if rows repeat.",
        remedy: "Write 0.",
        source: "V3 2.3.2; observed: GNU ld 2.44 writes 16 for the first PLT entry",
        example: "a function of PC type INC with block size 16",
    },
};

pub(super) fn check(
    shape: &FunctionShape,
    function: &FunctionContext<'_>,
    report: &mut Reporter<'_>,
) {
    let Some(attributes) = shape.attributes else { return };
    if !attributes.info.is_pc_mask() && attributes.rep_size != 0 {
        report.field(
            function.field(FunctionField::RepSize),
            attributes.rep_size,
            "0",
            format_args!("a block size is given, though the function's rows do not repeat"),
        );
    }
}
