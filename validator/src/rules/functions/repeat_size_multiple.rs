use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::FunctionField;
use crate::subject::FunctionContext;
use crate::subject::shape::FunctionShape;

pub(super) static RULE: Rule = Rule {
    name: "repeat-size-multiple",
    group: Group::Functions,
    severity: Severity::Warning,
    versions: Versions::SINCE_2,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the size of a function whose rows repeat is a multiple of the block size",
        consequence: "The last block is truncated, so the function's size or the block size is \
                      wrong.",
        remedy: "Correct sfde_func_size or the block size.",
        source: "V3 2.3.3.1",
        example: "a function of 40 bytes whose rows repeat every 16",
    },
};

pub(super) fn check(
    shape: &FunctionShape,
    function: &FunctionContext<'_>,
    report: &mut Reporter<'_>,
) {
    let Some(attributes) = shape.attributes else { return };
    let (block, size) = (attributes.rep_size, function.entry.size());
    if !attributes.has_whole_blocks {
        report.field(
            function.field(FunctionField::Size),
            size,
            format_args!("a multiple of {block}"),
            format_args!(
                "the function is {size} bytes long, which is not a multiple of the block size \
                 {block}"
            ),
        );
    }
}
