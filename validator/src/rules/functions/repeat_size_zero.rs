use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::FunctionField;
use crate::subject::FunctionContext;
use crate::subject::shape::FunctionShape;

pub(super) static RULE: Rule = Rule {
    name: "repeat-size-zero",
    group: Group::Functions,
    severity: Severity::Error,
    versions: Versions::SINCE_2,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "rows that repeat have a block size",
        consequence: "Look-ups divide by the block size: libsframe, glibc and the kernel divide by \
                      zero.",
        remedy: "Write the size of one block, such as 16 for AMD64's PLT entries.",
        source: "V3 2.3.2, 2.3.3.1",
        example: "a function of PC type MASK with block size 0",
    },
};

pub(super) fn check(
    shape: &FunctionShape,
    function: &FunctionContext<'_>,
    report: &mut Reporter<'_>,
) {
    let Some(attributes) = shape.attributes else { return };
    if attributes.info.is_pc_mask() && attributes.rep_size == 0 {
        report.field(
            function.field(FunctionField::RepSize),
            0,
            "at least 1",
            format_args!("the rows repeat, but the size of the repeated block is 0"),
        );
    }
}
