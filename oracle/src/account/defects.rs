//! Findings about defects of the CFI itself.

use sframe_validator::finding::{CodeSpan, Finding};
use sframe_validator::rules::Rule;

use super::tally::Tally;
use super::undecided::Reasons;
use crate::cfi::{Cfi, CfiError, DefectCount, Fde};
use crate::rules::rule_of;

/// A finding that does not refer to an SFrame section.
pub(super) fn about_file(rule: &'static Rule, message: String) -> Finding {
    Finding {
        rule,
        section: None,
        offset: None,
        bytes: 0..0,
        field: None,
        function: None,
        row: None,
        code: None,
        message,
    }
}

/// The findings from reading the sections' entries.
pub(super) fn of_entries(
    cfi: &[Cfi<'_>],
    tally: &mut Tally,
    undecided: &mut Reasons,
    findings: &mut Vec<Finding>,
) {
    for cfi in cfi {
        for DefectCount { first, count } in cfi.defect_counts() {
            match rule_of(&first.kind) {
                Some(rule) => tally.count(rule, *count),
                None => undecided.limit(cfi, *first, *count),
            }
        }
        for error in cfi.defects() {
            let Some(rule) = rule_of(&error.kind) else { continue };
            if tally.keep(rule) {
                let message = format!("{}+{:#x}: {}", cfi.name(), error.offset, error.kind);
                findings.push(about_file(rule, message));
            }
        }
    }
}

/// The findings from evaluating a function's instructions.
pub(super) fn of_function(
    function: &Fde<'_>,
    error: CfiError,
    tally: &mut Tally,
    undecided: &mut Reasons,
    findings: &mut Vec<Finding>,
) {
    // The CIE's defect has been reported once already.
    if function.cie().initial.is_err() {
        return;
    }
    let Some(rule) = rule_of(&error.kind) else {
        return undecided.limit(function.cfi(), error, 1);
    };
    tally.count(rule, 1);
    if tally.keep(rule) {
        let (name, offset) = (function.cfi().name(), function.offset());
        let message = format!("{name}+{:#x}: {} (FDE at {offset:#x})", error.offset, error.kind);
        let end = function.start().address.saturating_add(function.size());
        let code = Some(CodeSpan { start: function.start(), end });
        findings.push(Finding { code, ..about_file(rule, message) });
    }
}
