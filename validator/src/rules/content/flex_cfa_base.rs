use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::ErrorKind;
use crate::subject::RowContext;

pub(super) static RULE: Rule = Rule {
    name: "flex-cfa-base",
    group: Group::Content,
    severity: Severity::Error,
    versions: Versions::V3,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the CFA of a flexible row is based on a register",
        consequence: "The CFA would be computed from itself; the kernel refuses the section.",
        remedy: "Set bit 0 of the first control word and name the register.",
        source: "V3 3.2, appendix; observed: the kernel's patches",
        example: "a flexible row whose first control word is 0x38",
    },
};

pub(super) fn check(row: &RowContext<'_>, report: &mut Reporter<'_>) {
    let Err(error) = row.frame else { return };
    if error.kind == ErrorKind::CfaWithoutRegister {
        let control = row.row.words.unsigned(0).unwrap_or(0);
        report.field(
            row.word(0),
            format_args!("{control:#x}"),
            "bit 0x1 set",
            format_args!("flexible row {}'s CFA has no base register", row.index),
        );
    }
}
