use crate::abi::Abi;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::RowContext;
use crate::unwind::Cfa;

pub(super) static RULE: Rule = Rule {
    name: "entry-cfa",
    group: Group::Rows,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "at a function's entry, the CFA is SP + 8 (AMD64), SP (AArch64) or SP + 160 \
                  (s390x)",
        consequence: "The function is not entered by a call: a cold part, a PLT entry, or \
                      hand-written code.",
        remedy: "Check that the function is one of these.",
        source: "the machines' ELF ABIs",
        example: "an AMD64 function whose first row says CFA = SP + 16",
    },
};

pub(super) fn check(row: &RowContext<'_>, report: &mut Reporter<'_>) {
    let abi = row.layout.abi;
    let offset = match abi {
        Abi::Amd64 => 8,
        Abi::S390x => 160,
        Abi::Aarch64Big | Abi::Aarch64Little => 0,
    };
    let expected = Cfa::RegisterOffset { register: abi.sp(), offset };
    let Ok(frame) = row.frame else { return };
    let outermost = frame.cfa == Cfa::Undefined;
    if row.index == 0 && row.row.start == 0 && !outermost && frame.cfa != expected {
        report.bytes(
            row.row.offset..row.row.offset + row.row.size(),
            format_args!("at the function's entry, the CFA is {}, not {expected}", frame.cfa),
        );
    }
}
