use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::RowsContext;

pub(super) static RULE: Rule = Rule {
    name: "flex-needless",
    group: Group::Content,
    severity: Severity::Lint,
    versions: Versions::V3,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "a function of FDE type FLEX has a row that FDE type DEFAULT cannot express",
        consequence: "Its rows take up to twice as many bytes as necessary.",
        remedy: "Write FDE type DEFAULT.",
        source: "V3 2.3.3.2",
        example: "a flexible function whose only row says CFA = SP + 8",
    },
};

pub(super) fn check(rows: &RowsContext<'_>, report: &mut Reporter<'_>) {
    if rows.function.is_flexible() && rows.count > 0 && !rows.needs_flexible {
        let place = rows.function.entry().field(crate::section::FunctionField::Info2);
        report.field(
            place,
            format_args!("{:#04x}", rows.function.attributes().info2.0),
            "0 (DEFAULT)",
            format_args!("all {} rows of the flexible function could be default rows", rows.count),
        );
    }
}
