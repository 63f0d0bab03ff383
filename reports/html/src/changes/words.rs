//! The words for changes, as in the text of `compare`.

use sframe_history::changes::{
    Became, Changes, CountChange, CoverageChange, CoverageVerdict, Described, FileChange,
    FindingChange, Matched, Place, Scan, SeverityCounts, UndescribedFunction,
};
use sframe_record::Severity;
use sframe_record::numbers::{counted, grouped};

/// The maximum number of names in a list.
const NAMES: usize = 20;

/// What got worse, or that nothing did.
pub(super) fn verdict(changes: &Changes) -> String {
    if changes.is_empty() {
        return "Nothing changed".to_owned();
    }
    let summary = &changes.summary;
    let grown = changes.rules.iter().filter(|rule| {
        rule.severity == Severity::Error && rule.appeared == 0 && rule.new > rule.old
    });
    let grown = grown.count() as u64;
    let files = |n: u64, what: &str| format!("{} {what}", counted(n, "file"));
    let reasons = [
        (summary.new.errors > 0).then(|| counted(summary.new.errors, "new error")),
        (summary.unreadable > 0).then(|| files(summary.unreadable, "can no longer be read")),
        (summary.coverage_lost > 0)
            .then(|| files(summary.coverage_lost, "with functions that lost their entries")),
        (grown > 0).then(|| format!("more findings of {}", counted(grown, "error rule"))),
    ];
    let reasons: Vec<String> = reasons.into_iter().flatten().collect();
    match (changes.worse, reasons.is_empty()) {
        (false, _) => "Nothing got worse".to_owned(),
        (true, true) => "Worse: rules are broken more often".to_owned(),
        (true, false) => format!("Worse: {}", reasons.join(", ")),
    }
}

/// `monday: 512 files, by sframe-check 0.1.0`.
pub(super) fn scan(scan: &Scan) -> String {
    let tool = scan.tool.as_ref().map(|tool| format!(", by sframe-check {tool}"));
    let ended = match (scan.complete, scan.damaged) {
        (true, _) => "",
        (false, true) => ", partly damaged",
        (false, false) => ", not complete",
    };
    format!("{}: {}{}{ended}", scan.name, counted(scan.files, "file"), tool.unwrap_or_default())
}

/// `2 errors, 1 warning`.
pub(super) fn severities(counts: &SeverityCounts) -> String {
    let parts = [(counts.errors, "error"), (counts.warnings, "warning"), (counts.lints, "lint")];
    let some = parts.into_iter().filter(|(number, _)| *number > 0);
    some.map(|(number, what)| counted(number, what)).collect::<Vec<_>>().join(", ")
}

/// `12 of 15`.
pub(super) fn described(of: &Described) -> String {
    let all = of.functions.saturating_add(of.undescribed);
    format!("{} of {}", grouped(of.functions), grouped(all))
}

/// The phrase for an overall change of coverage.
pub(super) const fn coverage_verdict(verdict: CoverageVerdict) -> &'static str {
    match verdict {
        CoverageVerdict::Lost => "functions have lost their entries",
        CoverageVerdict::MoreUndescribed => {
            "more functions without entries, which may or may not have had one before"
        }
        CoverageVerdict::Other => "other functions or causes without entries",
        CoverageVerdict::FewerUndescribed => {
            "fewer functions without entries, which may or may not have one now"
        }
        CoverageVerdict::Gained => "functions have gained entries",
    }
}

/// What happened to the file as a whole.
pub(super) fn became(change: &FileChange) -> Option<String> {
    let what = match change.became? {
        Became::Unreadable => "can no longer be read",
        Became::SectionLost => "has lost its SFrame section",
        Became::Came => "is new",
        Became::Gone => "is gone",
        Became::OtherKind => "is another kind of file",
        Became::Readable => "can be read again",
        Became::SectionGained => "now has an SFrame section",
        Became::Unmatched if change.old.is_some() => {
            "only in the old scan: it may or may not be gone"
        }
        Became::Unmatched => "only in the new scan: it may or may not be new",
    };
    let reason = change.reason.as_ref().map(|reason| format!(": {reason}"));
    Some(format!("{what}{}", reason.unwrap_or_default()))
}

/// The old name if it differs, and how the files were matched.
pub(super) fn matched(change: &FileChange) -> Option<String> {
    let how = match change.matched? {
        Matched::Name => return None,
        Matched::Version => "another version of",
        Matched::Root | Matched::Folder => "before",
        Matched::Content => "the same bytes as",
    };
    Some(format!("{how} {}", change.old.as_ref()?))
}

/// The causes and functions of a coverage change, one per line.
pub(super) fn coverage(of: &CoverageChange) -> Vec<String> {
    let (new, old) = (described(&of.new), described(&of.old));
    let mut lines = vec![format!("{}: {new}, before {old}", coverage_verdict(of.verdict))];
    let cause = |of: &sframe_history::changes::CauseChange| {
        format!("{}: {}, before {}", of.cause, grouped(of.new), grouped(of.old))
    };
    lines.extend(of.causes.iter().take(NAMES).map(cause));
    let (with, without): (Vec<_>, Vec<_>) = of.functions.iter().partition(|f| f.new.is_none());
    lines.extend(functions(&without, "without an entry"));
    lines.extend(functions(&with, "no longer without an entry, or gone"));
    lines
}

fn functions(functions: &[&UndescribedFunction], what: &str) -> Option<String> {
    let name = |function: &&UndescribedFunction| {
        format!("{}{}", function.symbol, if function.known { "" } else { " (?)" })
    };
    let names: Vec<String> = functions.iter().take(NAMES).map(name).collect();
    let more = functions.len().saturating_sub(NAMES) as u64;
    let more = if more > 0 { format!(" and {} more", grouped(more)) } else { String::new() };
    (!names.is_empty()).then(|| format!("{what}: {}{more}", names.join(", ")))
}

/// For instance `error bad-info: 15, before 12`, and what is unknown about the listed findings.
pub(super) fn count(count: &CountChange) -> String {
    let undecided = count.undecided_old.saturating_add(count.undecided_new);
    let left = match undecided {
        0 => "not all of them are listed".to_owned(),
        n => format!("{} not known to be new or fixed", counted(n, "listed finding")),
    };
    let (severity, rule) = (count.severity.name(), &count.rule);
    format!("{severity} {rule}: {}, before {}: {left}", grouped(count.new), grouped(count.old))
}

/// The old content of a changed finding.
pub(super) fn before(finding: &FindingChange) -> Option<String> {
    let (old, new) = finding.old.as_ref().zip(finding.new.as_ref())?;
    if old.functions != new.functions {
        let (old, new) = (counted(old.functions, "function"), grouped(new.functions));
        return Some(format!("in {new}, before {old}"));
    }
    (old.message != new.message).then(|| format!("before: {}", old.message))
}

/// `f+0x4, row 1, code 0x401004, and 12 more functions`.
pub(super) fn place(place: &Place) -> String {
    let mut parts = Vec::new();
    if let Some(symbol) = &place.symbol {
        let offset = place.offset.filter(|offset| *offset > 0);
        let offset = offset.map_or(String::new(), |offset| format!("+{offset:#x}"));
        parts.push(format!("{symbol}{offset}"));
    } else if let Some(section) = &place.section {
        parts.push(section.clone());
    }
    parts.extend(place.row.map(|row| format!("row {row}")));
    parts.extend(place.address.as_ref().map(|address| format!("code {address}")));
    parts.extend(place.field.clone());
    let more = place.functions.saturating_sub(1);
    if more > 0 {
        parts.push(format!("and {}", counted(more, "more function")));
    }
    parts.join(", ")
}
