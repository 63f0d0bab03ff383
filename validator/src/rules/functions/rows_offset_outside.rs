use core::cmp::Ordering;

use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::FunctionField;
use crate::subject::FunctionContext;
use crate::subject::SectionContext;
use crate::subject::shape::FunctionShape;

pub(super) static RULE: Rule = Rule {
    name: "rows-offset-outside",
    group: Group::Functions,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    page: Page {
        summary: "a function's rows start inside the FRE sub-section",
        consequence: "A reader that trusts the offset reads past the section; readelf crashes.",
        remedy: "Correct the offset; it counts from the start of the FRE sub-section.",
        source: "V3 2.3.1; observed: readelf 2.47",
        example: "a function whose rows start at 0xffff0000",
    },
};

pub(super) fn is_broken(function: &FunctionShape, section: &SectionContext<'_>) -> bool {
    let has_rows = function.attributes.is_some_and(|attributes| attributes.has_rows);
    let stored_with_rows = section.header().version.attribute_size() > 0;
    match function.rows {
        Ordering::Less => false,
        // Up to version 2, the offset of a function without rows may be the end of the sub-section.
        Ordering::Equal => !stored_with_rows && has_rows,
        Ordering::Greater => true,
    }
}

pub(super) fn report(function: &FunctionContext<'_>, report: &mut Reporter<'_>) {
    let offset = u64::from(function.entry.fre_offset());
    let length = u64::from(function.whole.header().fre_len);
    let attributes = function.whole.header().version.attribute_size();
    // Up to version 2, the offset of a function without rows may be the end of the sub-section.
    let needed = match function.readable() {
        Some(readable) if attributes == 0 => u64::from(readable.num_rows() > 0),
        _ => attributes,
    };
    report.field(
        function.field(FunctionField::FreOffset),
        format_args!("{offset:#x}"),
        format_args!("at most {:#x}", length.saturating_sub(needed)),
        format_args!(
            "the function's rows start at {offset:#x} in an FRE sub-section of {length:#x} bytes"
        ),
    );
}
