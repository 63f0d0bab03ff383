use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::FunctionField;
use crate::subject::SectionContext;
use crate::subject::shape::FunctionShape;
use crate::subject::{FileKind, FunctionContext};

pub(super) static RULE: Rule = Rule {
    name: "repeat-start-alignment",
    group: Group::Functions,
    severity: Severity::Warning,
    versions: Versions::SINCE_2,
    abis: Abis::ALL,
    page: Page {
        summary: "a function whose rows repeat starts at a multiple of the block size",
        consequence: "The specification takes the PC modulo the block size; libsframe and the \
                      kernel take the PC's offset in the function. They agree only for such a \
                      start.",
        remedy: "Align the stub section to the block size.",
        source: "V3 2.3.3.1, compared with libsframe 2.47 and the kernel's patches",
        example: "a function at 0x1008 whose rows repeat every 16 bytes",
    },
};

pub(super) fn is_broken(function: &FunctionShape, section: &SectionContext<'_>) -> bool {
    let aligned = function.start.is_none_or(|start| start.is_block_aligned);
    section.kind == FileKind::Linked && !aligned
}

pub(super) fn report(function: &FunctionContext<'_>, report: &mut Reporter<'_>) {
    let (Some(readable), Ok(start)) = (function.readable(), function.start) else { return };
    let Ok(Some(block)) = readable.repeat_size() else { return };
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
