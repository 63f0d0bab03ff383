use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::RowContext;
use crate::unwind::Recovery;

pub(super) static RULE: Rule = Rule {
    name: "frame-record-split",
    group: Group::Content,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::AARCH64,
    about_tools: false,
    page: Page {
        summary: "FP and RA are saved side by side, FP first, as AArch64's frame record requires",
        consequence: "Tracers that follow frame records mistake another value for the return \
                      address.",
        remedy: "Check the function's CFI.",
        source: "AAPCS64, \"The Frame Pointer\"",
        example: "an AArch64 row with RA at CFA - 16 and FP at CFA - 8",
    },
};

pub(super) fn check(row: &RowContext<'_>, report: &mut Reporter<'_>) {
    let Ok(frame) = row.frame else { return };
    let (Recovery::AtCfa(ra), Recovery::AtCfa(fp)) = (frame.ra, frame.fp) else { return };
    if fp.checked_add(8) != Some(ra) {
        report.field(
            row.word(2),
            fp,
            ra.saturating_sub(8),
            format_args!("row {} puts RA at CFA{ra:+}, but FP at CFA{fp:+}", row.index),
        );
    }
}
