use super::slots;
use crate::abi::Abi;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::RowContext;

pub(super) static RULE: Rule = Rule {
    name: "slot-alignment",
    group: Group::Content,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the stack slots of RA and FP are multiples of 8 from the CFA",
        consequence: "A reader loads 8 bytes that straddle two slots, or faults.",
        remedy: "Check how the offset was computed.",
        source: "the machines' ELF ABIs; V2 errata 1 (s390x uses odd words for registers)",
        example: "an AMD64 row with FP at CFA - 20",
    },
};

pub(super) fn check(row: &RowContext<'_>, report: &mut Reporter<'_>) {
    for (name, index, offset) in slots(row) {
        // A separate rule covers odd words on s390x in version 3.
        let register = row.layout.abi == Abi::S390x && offset & 1 != 0;
        if offset % 8 != 0 && !register {
            report.field(
                row.word(index),
                offset,
                "a multiple of 8",
                format_args!("row {} puts {name} at CFA{offset:+}", row.index),
            );
        }
    }
}
