use super::slots;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::RowContext;

pub(super) static RULE: Rule = Rule {
    name: "register-in-default-row",
    group: Group::Content,
    severity: Severity::Error,
    versions: Versions::V3,
    abis: Abis::S390X,
    about_tools: false,
    page: Page {
        summary: "version 3 does not store registers in the words of default rows",
        consequence: "Readers of version 3 load a stack slot at an odd address where version 2 \
                      meant a register.",
        remedy: "Write FDE type FLEX.",
        source: "V3 1.2 (last point)",
        example: "a version 3 s390x row with FP's word 33, which in version 2 meant register 16",
    },
};

pub(super) fn check(row: &RowContext<'_>, report: &mut Reporter<'_>) {
    for (name, index, offset) in slots(row) {
        if offset & 1 != 0 {
            report.field(
                row.word(index),
                offset,
                "a multiple of 8",
                format_args!(
                    "row {}'s word for {name} is odd: in version 2 that was register {}",
                    row.index,
                    offset >> 1
                ),
            );
        }
    }
}
