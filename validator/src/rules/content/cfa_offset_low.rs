use super::sp_based;
use crate::abi::Abi;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::RowContext;
use crate::unwind::Recovery;

pub(super) static RULE: Rule = Rule {
    name: "cfa-offset-low",
    group: Group::Content,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "an SP-based CFA is at least SP + 8 (AMD64), SP (AArch64) or SP + 160 (s390x)",
        consequence: "The CFA is below the stack pointer, so the caller's frame is misplaced.",
        remedy: "Check the CFI of hand-written code.",
        source: "the machines' ELF ABIs; observed: GNU as accepts any offset in the user's CFI",
        example: "an AMD64 row that says CFA = SP - 8",
    },
};

pub(super) fn check(row: &RowContext<'_>, report: &mut Reporter<'_>) {
    let least = match row.layout.abi {
        // Once the return address has been popped, the CFA may equal SP.
        Abi::Amd64 if row.frame.is_ok_and(|frame| frame.ra == Recovery::AtCfa(-8)) => 8,
        Abi::S390x => 160,
        Abi::Amd64 | Abi::Aarch64Big | Abi::Aarch64Little => 0,
    };
    let Some(offset) = sp_based(row).filter(|&offset| offset < least) else { return };
    // No code has its caller's frame below SP, whatever CFI says.
    report.doubt = report.doubt.filter(|_| offset >= 0);
    report.field(
        row.word(usize::from(row.layout.flexible)),
        offset,
        format_args!("at least {least}"),
        format_args!("row {} says CFA = SP{offset:+}, below the caller's frame", row.index),
    );
}
