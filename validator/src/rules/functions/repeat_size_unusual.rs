use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::FunctionField;
use crate::subject::FunctionContext;
use crate::subject::shape::FunctionShape;

pub(super) static RULE: Rule = Rule {
    name: "repeat-size-unusual",
    group: Group::Functions,
    severity: Severity::Lint,
    versions: Versions::SINCE_2,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "a repeated block is 8, 16 or 32 bytes long, like PLT entries",
        consequence: "No linker's stubs have this block size.",
        remedy: "Check the size against the stub's instructions.",
        source: "observed: GNU ld",
        example: "a function whose rows repeat every 12 bytes",
    },
};

pub(super) fn check(
    shape: &FunctionShape,
    function: &FunctionContext<'_>,
    report: &mut Reporter<'_>,
) {
    let Some(attributes) = shape.attributes else { return };
    let block = attributes.rep_size;
    if attributes.info.is_pc_mask() && !matches!(block, 0 | 8 | 16 | 32) {
        report.field(
            function.field(FunctionField::RepSize),
            block,
            "8, 16 or 32",
            format_args!("the repeated block is {block} bytes long"),
        );
    }
}
