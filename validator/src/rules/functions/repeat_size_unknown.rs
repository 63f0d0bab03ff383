use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::FunctionField;
use crate::subject::FunctionContext;
use crate::subject::shape::FunctionShape;

pub(super) static RULE: Rule = Rule {
    name: "repeat-size-unknown",
    group: Group::Functions,
    severity: Severity::Warning,
    versions: Versions::V1,
    abis: Abis::ALL,
    about_tools: true,
    page: Page {
        summary: "rows do not repeat in version 1, which has no field for the size of the block",
        consequence: "libsframe 2.40 takes the lowest 8 bits of the address for the place in the block, and \
                      so finds rows that describe other code. Other readers have no row. The comparison \
                      takes the size with which the rows agree with CFI, if there is one.",
        remedy: "Assemble and link with binutils 2.41 or later.",
        source: "V1 1.3, 1.3.2 (version 2 adds the size of the block); observed: GNU ld 2.40 writes such a \
                 function for AMD64's PLT",
        example: "a function of PC type MASK in version 1",
    },
};

pub(super) fn check(
    shape: &FunctionShape,
    function: &FunctionContext<'_>,
    report: &mut Reporter<'_>,
) {
    if shape.attributes.is_some_and(|attributes| attributes.info.is_pc_mask()) {
        report.field(
            function.field(FunctionField::Info),
            "type PCMASK",
            "type PCINC",
            format_args!("the rows repeat in blocks of unknown size (PCMASK)"),
        );
    }
}
