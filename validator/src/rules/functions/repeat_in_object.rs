use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::{FunctionField, FunctionInfo};
use crate::subject::shape::FunctionShape;
use crate::subject::{FileKind, FunctionContext};

pub(super) static RULE: Rule = Rule {
    name: "repeat-in-object",
    group: Group::Functions,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "no function of a relocatable object has rows that repeat",
        consequence: "Repeated blocks are for the stubs that a linker generates; assemblers never \
                      write them.",
        remedy: "Write rows of PC type INC.",
        source: "observed: GNU as and LLVM",
        example: "an object with a function of PC type MASK",
    },
};

pub(super) fn check(
    shape: &FunctionShape,
    function: &FunctionContext<'_>,
    report: &mut Reporter<'_>,
) {
    let Some(attributes) = shape.attributes else { return };
    let info = attributes.info;
    if info.is_pc_mask() && function.whole.kind == FileKind::Relocatable {
        report.field(
            function.field(FunctionField::Info),
            format_args!("{:#04x}", info.0),
            format_args!("bit {:#04x} clear", FunctionInfo::PC_MASK),
            format_args!("the rows of a function in a relocatable object repeat"),
        );
    }
}
