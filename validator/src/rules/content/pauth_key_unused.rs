use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::RowsContext;

pub(super) static RULE: Rule = Rule {
    name: "pauth-key-unused",
    group: Group::Content,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::AARCH64,
    about_tools: false,
    page: Page {
        summary: "a function that names the B key has a row with a signed return address",
        consequence: "None: the key is not used.",
        remedy: "Clear bit 5 of the info byte.",
        source: "V3 2.3.3",
        example: "an AArch64 function with the B key bit and no signed row",
    },
};

pub(super) fn check(rows: &RowsContext<'_>, report: &mut Reporter<'_>) {
    let info = rows.function.attributes().info;
    if info.pauth_key_b() && rows.count > 0 && !rows.mangled {
        let place = rows.function.entry().field(crate::section::FunctionField::Info);
        report.field(
            place,
            format_args!("{:#04x}", info.0),
            "bit 0x20 clear",
            format_args!("the function names the B key, but no row has a signed return address"),
        );
    }
}
