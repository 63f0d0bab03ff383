use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::FunctionField;
use crate::subject::shape::FunctionShape;
use crate::subject::{FileKind, FunctionContext};

pub(super) static RULE: Rule = Rule {
    name: "repeat-start-alignment",
    group: Group::Functions,
    severity: Severity::Warning,
    versions: Versions::SINCE_2,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "a function whose rows repeat starts at a multiple of the block size",
        consequence: "The specification takes the PC modulo the block size; libsframe and the \
                      kernel take the PC's offset in the function. They agree only for such a \
                      start. In a section without a file, the rule needs --raw --linked.",
        remedy: "Align the stub section to the block size.",
        source: "V3 2.3.3.1, compared with libsframe 2.47 and the kernel's patches",
        example: "a function at 0x1008 whose rows repeat every 16 bytes",
    },
};

pub(super) fn check(
    shape: &FunctionShape,
    function: &FunctionContext<'_>,
    report: &mut Reporter<'_>,
) {
    let (Some(attributes), Some(place)) = (shape.attributes, shape.start) else { return };
    if !place.is_block_aligned
        && let Ok(start) = function.start
        && function.whole.kind == FileKind::Linked
    {
        let block = attributes.rep_size;
        report.field(
            function.field(FunctionField::Start),
            format_args!("{:#x}", start.address),
            format_args!("a multiple of {block}"),
            format_args!(
                "the function's rows repeat every {block} bytes, but it starts at {:#x}",
                start.address
            ),
        );
    }
}
