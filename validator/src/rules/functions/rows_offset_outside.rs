use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::FunctionField;
use crate::subject::FunctionContext;

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

pub(super) fn check(function: &FunctionContext<'_>, report: &mut Reporter<'_>) {
    let offset = u64::from(function.entry.fre_offset());
    let length = u64::from(function.whole.header().fre_len);
    let attributes = function.whole.header().version.attribute_size();
    // Up to version 2 a function without rows may point at the end.
    let needed = match function.readable() {
        Some(readable) if attributes == 0 => u64::from(readable.num_rows() > 0),
        _ => attributes,
    };
    if offset + needed > length {
        report.field(
            function.field(FunctionField::FreOffset),
            format_args!("{offset:#x}"),
            format_args!("at most {:#x}", length.saturating_sub(needed)),
            format_args!(
                "the function's rows start at {offset:#x} of an FRE sub-section of {length:#x} \
                 bytes"
            ),
        );
    }
}
