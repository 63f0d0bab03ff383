use super::WordCount;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::RowContext;
use crate::unwind::{Cfa, Recovery};

pub(super) static RULE: Rule = Rule {
    name: "fp-lost",
    group: Group::Content,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "a row whose CFA is based on FP says where the caller's FP is",
        consequence: "FP points to this function's frame, and the caller's FP is unknown, so the \
                      next frame that is based on FP is wrong.",
        remedy: "Check that the function saves FP before it changes it, and that its CFI says so.",
        source: "V3 3.1; the machines' ELF ABIs (FP is preserved across calls)",
        example: "an AMD64 row that says CFA = FP + 16 and has no rule for FP",
    },
};

pub(super) fn check(row: &RowContext<'_>, report: &mut Reporter<'_>) {
    let Ok(frame) = row.frame else { return };
    let fp_based = match frame.cfa {
        Cfa::RegisterOffset { register, .. } => register == row.layout.abi.fp(),
        _ => false,
    };
    if fp_based && !row.layout.flexible && frame.fp == Recovery::Unchanged {
        report.field(
            row.info(),
            WordCount(row.row.info.word_count()),
            row.layout.max_default_words(),
            format_args!(
                "row {}'s CFA is based on FP, but the caller's FP is not recovered",
                row.index
            ),
        );
    }
}
