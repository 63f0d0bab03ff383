//! Findings about defects of the CFI itself.

use sframe_validator::elf::Elf;
use sframe_validator::finding::{CodeSpan, Finding};
use sframe_validator::rules::Rule;

use super::tally::Tally;
use super::undecided::Reasons;
use crate::cfi::{
    Cfi, CfiError, DefectCount, Executable, Fde, Kind, SearchDefect, check_search_table,
};
use crate::rules::{CFI_OUTSIDE_CODE, rule_of, rule_of_search};

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

/// The findings about the table that unwinders search.
pub(super) fn of_search_table(
    elf: &Elf<'_>,
    cfi: &[Cfi<'_>],
    tally: &mut Tally,
    findings: &mut Vec<Finding>,
) {
    check_search_table(elf, cfi, &mut |SearchDefect { kind, function }| {
        let rule = rule_of_search(&kind);
        tally.count(rule, 1);
        if tally.keep(rule) {
            let (message, code) = match function {
                Some(function) => {
                    let offset = function.offset();
                    (format!("{kind} (FDE at {offset:#x})"), Some(span_of(&function)))
                }
                None => (kind.to_string(), None),
            };
            findings.push(Finding { code, ..about_file(rule, message) });
        }
    });
}

/// The findings about functions of a loaded section that are not in code.
pub(super) fn of_places(
    elf: &Elf<'_>,
    cfi: &[Cfi<'_>],
    tally: &mut Tally,
    findings: &mut Vec<Finding>,
) {
    let executable = Executable::of(elf);
    let loaded = cfi.iter().filter(|cfi| cfi.kind() == Some(Kind::EhFrame));
    let functions = loaded.flat_map(Cfi::functions).filter(|function| function.size() > 0);
    for function in functions.filter(|function| !executable.contains(function.start())) {
        tally.count(&CFI_OUTSIDE_CODE, 1);
        if tally.keep(&CFI_OUTSIDE_CODE) {
            let (offset, start) = (function.offset(), function.start().address);
            let name = function.cfi().name();
            let message = format!(
                "{name}+{offset:#x}: no executable section contains {start:#x}, where the function starts"
            );
            findings.push(about_file(&CFI_OUTSIDE_CODE, message));
        }
    }
}

/// The code that a function of CFI describes.
pub(super) fn span_of(function: &Fde<'_>) -> CodeSpan {
    let end = function.start().address.saturating_add(function.size());
    CodeSpan { start: function.start(), end }
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
        let code = Some(span_of(function));
        findings.push(Finding { code, ..about_file(rule, message) });
    }
}
