use super::is_tombstone;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::FunctionField;
use crate::subject::shape::{CodePlace, FunctionShape};
use crate::subject::{FileKind, FunctionContext};

pub(super) static RULE: Rule = Rule {
    name: "function-outside-code",
    group: Group::Functions,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "a function of a linked file starts in executable code",
        consequence: "The kernel rejects the whole section. Other readers have rows for data, and \
                      none for the intended function.",
        remedy: "Check how the start field was relocated: against the field or against the \
                 section.",
        source: "observed: the kernel's patches check every start against the text range",
        example: "a shared object whose function starts in .data",
    },
};

pub(super) fn check(
    shape: &FunctionShape,
    function: &FunctionContext<'_>,
    report: &mut Reporter<'_>,
) {
    let (Some(place), Ok(start)) = (shape.start, function.start) else { return };
    let outside = match place.code {
        CodePlace::Outside => true,
        // A function of size 0 may be at the very end of a section.
        CodePlace::AtEnd => !shape.is_empty,
        CodePlace::Unknown | CodePlace::Inside | CodePlace::PastEnd => false,
    };
    if outside && !is_tombstone(place) && function.whole.kind == FileKind::Linked {
        report.field(
            function.field(FunctionField::Start),
            format_args!("{:#x}", start.address),
            "an address in an executable section",
            format_args!("the function starts at {:#x}, where there is no code", start.address),
        );
    }
}
