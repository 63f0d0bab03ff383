use super::is_tombstone;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::FunctionField;
use crate::subject::shape::FunctionShape;
use crate::subject::{FileKind, FunctionContext};

pub(super) static RULE: Rule = Rule {
    name: "function-at-null",
    group: Group::Functions,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "no function of a linked file starts at address 0 or -1, unless code is there",
        consequence: "The entry is left over from a function that the linker discarded; the sorted \
                      table starts or ends with entries that describe nothing.",
        remedy: "Link with a linker that removes the entries of discarded functions.",
        source: "observed: linkers write 0 or -1 for references into discarded sections",
        example: "a shared object with a function at address 0",
    },
};

pub(super) fn check(
    shape: &FunctionShape,
    function: &FunctionContext<'_>,
    report: &mut Reporter<'_>,
) {
    let (Some(place), Ok(start)) = (shape.start, function.start) else { return };
    if function.whole.kind == FileKind::Linked && is_tombstone(place) {
        report.field(
            function.field(FunctionField::Start),
            format_args!("{:#x}", start.address),
            "an address in code",
            format_args!(
                "the function starts at {:#x}, to which linkers resolve references into discarded \
                 sections",
                start.address
            ),
        );
    }
}
