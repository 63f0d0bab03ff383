use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::FunctionField;
use crate::subject::FunctionContext;
use crate::subject::SectionContext;
use crate::subject::shape::FunctionShape;

pub(super) static RULE: Rule = Rule {
    name: "repeat-size-multiple",
    group: Group::Functions,
    severity: Severity::Warning,
    versions: Versions::SINCE_2,
    abis: Abis::ALL,
    page: Page {
        summary: "the size of a function whose rows repeat is a multiple of the block size",
        consequence: "The last block is truncated, so the function's size or the block size is \
                      wrong.",
        remedy: "Correct sfde_func_size or the block size.",
        source: "V3 2.3.3.1",
        example: "a function of 40 bytes whose rows repeat every 16",
    },
};

pub(super) fn is_broken(function: &FunctionShape, _: &SectionContext<'_>) -> bool {
    function.attributes.is_some_and(|attributes| !attributes.has_whole_blocks)
}

pub(super) fn report(function: &FunctionContext<'_>, report: &mut Reporter<'_>) {
    let Some(readable) = function.readable() else { return };
    let Ok(Some(block)) = readable.repeat_size() else { return };
    report.field(
        function.field(FunctionField::Size),
        readable.size(),
        format_args!("a multiple of {block}"),
        format_args!(
            "the function is {} bytes long, which is not a multiple of the block size {block}",
            readable.size()
        ),
    );
}
