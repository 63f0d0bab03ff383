use core::cmp::Ordering;

use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::FunctionField;
use crate::subject::FunctionContext;
use crate::subject::shape::FunctionShape;

pub(super) static RULE: Rule = Rule {
    name: "rows-offset-outside",
    group: Group::Functions,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "a function's rows start inside the FRE sub-section",
        consequence: "A reader that trusts the offset reads past the section; readelf crashes.",
        remedy: "Correct the offset; it counts from the start of the FRE sub-section.",
        source: "V3 2.3.1; observed: readelf 2.47",
        example: "a function whose rows start at 0xffff0000",
    },
};

pub(super) fn check(
    shape: &FunctionShape,
    function: &FunctionContext<'_>,
    report: &mut Reporter<'_>,
) {
    let header = function.whole.header();
    let attributes = header.version.attribute_size();
    // Up to version 2, the offset of a function without rows may be the end of the sub-section.
    let needed = match shape.attributes {
        Some(readable) if attributes == 0 => u64::from(readable.has_rows),
        _ => attributes,
    };
    let outside = match shape.rows {
        Ordering::Less => false,
        Ordering::Equal => attributes == 0 && needed > 0,
        Ordering::Greater => true,
    };
    if outside {
        let (offset, length) = (function.entry.fre_offset(), header.fre_len);
        report.field(
            function.field(FunctionField::FreOffset),
            format_args!("{offset:#x}"),
            format_args!("at most {:#x}", u64::from(length).saturating_sub(needed)),
            format_args!(
                "the function's rows start at {offset:#x} in an FRE sub-section of {length:#x} \
                 bytes"
            ),
        );
    }
}
