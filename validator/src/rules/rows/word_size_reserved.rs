use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::ErrorKind;
use crate::subject::UnreadableRow;

pub(super) static RULE: Rule = Rule {
    name: "word-size-reserved",
    group: Group::Rows,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the data word size code is 0, 1 or 2",
        consequence: "The row's length is unknown, so the next row cannot be found. libsframe \
                      continues with a wrong length and reports nothing; the kernel and LLVM \
                      refuse.",
        remedy: "Write 0 (1 byte), 1 (2 bytes) or 2 (4 bytes).",
        source: "V3 2.4.1; observed: libsframe 2.47, the kernel's patches, LLVM 23",
        example: "a row with info byte 0x63",
    },
};

pub(super) fn check(row: &UnreadableRow<'_>, report: &mut Reporter<'_>) {
    if row.error.kind == ErrorKind::ReservedWordSize {
        let start = row.error.offset;
        report.bytes(
            start..start + 1,
            format_args!(
                "the row's data word size code is 3, which does not exist: this row and those \
                 after it cannot be read"
            ),
        );
    }
}
