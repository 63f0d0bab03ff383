use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::{FreType, FunctionField};
use crate::subject::FunctionContext;

pub(super) static RULE: Rule = Rule {
    name: "fre-type-wide",
    group: Group::Functions,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the FRE type is the narrowest that can hold every offset in the function",
        consequence: "Each row takes up 1 to 3 bytes more than necessary.",
        remedy: "Choose ADDR1 up to 256 bytes of code, ADDR2 up to 65,536.",
        source: "observed: GNU as chooses by the function's size",
        example: "a function of 16 bytes with FRE type ADDR4",
    },
};

pub(super) fn check(function: &FunctionContext<'_>, report: &mut Reporter<'_>) {
    let Some(readable) = function.readable() else { return };
    let Ok(fre_type) = readable.fre_type() else { return };
    // GNU as compares the size itself, so 256 and 65,536 bytes count as wide.
    let needed = FreType::for_start(readable.size());
    if fre_type > needed {
        report.field(
            function.field(FunctionField::Info),
            format_args!("ADDR{}", fre_type.width()),
            format_args!("ADDR{}", needed.width()),
            format_args!(
                "the function has {} bytes, but its rows have start fields of {} bytes",
                readable.size(),
                fre_type.width()
            ),
        );
    }
}
