//! The phrases for changes, for renderers of every format. They contain text from the input only as [printable] text.

use super::{
    Became, Change, Changes, CountChange, CoverageChange, CoverageVerdict, Described, FileChange,
    FindingChange, Matched, MissingFiles, PackageChange, Place, ProducerChange, RuleChange, Scan,
    SectionChange, SeverityCounts, Share, TableLine, UndescribedFunction,
};
use sframe_record::numbers::{counted, grouped, percent};
use sframe_record::text::{column_width, printable};
use sframe_record::{Side, UnwindTable};

/// A summary of what got worse, or that nothing did.
#[must_use]
pub fn verdict(changes: &Changes) -> String {
    if changes.is_empty() {
        return "nothing changed".to_owned();
    }
    let summary = &changes.summary;
    let files = |n: u64, what: &str| format!("{} {what}", counted(n, "file"));
    let grown: Vec<&RuleChange> = (changes.rules.iter())
        .filter(|rule| rule.severity == sframe_record::Severity::Error)
        .filter(|rule| rule.appeared == 0 && rule.new > rule.old)
        .collect();
    let fallen = changes.packages.iter().filter(|package| package.share_fell).count() as u64;
    let reasons = [
        (summary.new.errors > 0).then(|| counted(summary.new.errors, "new error")),
        (summary.unreadable > 0).then(|| files(summary.unreadable, "can no longer be read")),
        (summary.coverage_lost > 0)
            .then(|| files(summary.coverage_lost, "with functions that lost their entries")),
        (fallen > 0).then(|| {
            format!("{} with a smaller share of code with entries", counted(fallen, "package"))
        }),
        (changes.worse && !grown.is_empty())
            .then(|| format!("more findings of {}", counted(grown.len() as u64, "error rule"))),
    ];
    let reasons: Vec<String> = reasons.into_iter().flatten().collect();
    let gone = match summary.gone {
        0 => String::new(),
        1 => "; 1 file is gone".to_owned(),
        files => format!("; {} are gone", counted(files, "file")),
    };
    match (changes.worse, reasons.is_empty()) {
        (false, _) => format!("nothing got worse{gone}"),
        (true, true) => format!("worse: rules are broken more often{gone}"),
        (true, false) => format!("worse: {}{gone}", reasons.join(", ")),
    }
}

/// `monday: 512 files, by sframe-check 0.1.0`.
#[must_use]
pub fn scan(scan: &Scan) -> String {
    let tool = scan.tool.as_ref().map(|tool| format!(", by sframe-check {}", printable(tool)));
    let ended = match (scan.complete, scan.damaged) {
        (true, _) => "",
        (false, true) => ", partly damaged",
        (false, false) => ", not complete",
    };
    let files = counted(scan.files, "file");
    format!("{}: {files}{}{ended}", printable(&scan.name), tool.unwrap_or_default())
}

/// The lines of the summary, without bullets.
pub(super) fn summary(changes: &Changes) -> Vec<String> {
    let summary = &changes.summary;
    let mut lines = Vec::new();
    let some = |n: u64, what: &str| (n > 0).then(|| format!("{} {what}", grouped(n)));
    let files = [
        Some(format!("{} in both", grouped(summary.matched))),
        some(summary.renamed, "of these under another name"),
        some(summary.came, "new"),
        some(summary.gone, "gone"),
        some(summary.unmatched, "in one alone, undecided"),
        some(summary.unreadable, "can no longer be read"),
        some(summary.readable, "can be read again"),
    ];
    lines.push(format!("files: {}", list(files)));
    let findings = |counts: &SeverityCounts, what: &str| {
        (counts.all() > 0).then(|| format!("{} {what}", severities(counts)))
    };
    let findings = [
        findings(&summary.new, "new"),
        findings(&summary.fixed, "fixed"),
        findings(&summary.missing, "missing with their files or sections"),
        findings(&summary.changed, "changed"),
        some(summary.undecided, "undecided"),
    ];
    if findings.iter().any(Option::is_some) {
        lines.push(format!("findings: {}", list(findings)));
    }
    let (old, new) = (&summary.described_old, &summary.described_new);
    if old != new {
        lines.push(format!("functions with entries: {}", from_to(old, new)));
    }
    let of_files = |n: u64, what: &str| (n > 0).then(|| format!("{} {what}", counted(n, "file")));
    let coverage = [
        of_files(summary.coverage_lost, "lost entries"),
        of_files(summary.coverage_gained, "gained entries"),
    ];
    if coverage.iter().any(Option::is_some) {
        lines.push(format!("coverage: {}", list(coverage)));
    }
    lines
}

fn list<const N: usize>(parts: [Option<String>; N]) -> String {
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// `2 errors, 1 warning`; empty without findings.
#[must_use]
pub fn severities(counts: &SeverityCounts) -> String {
    let some = |n: u64, severity: &str| (n > 0).then(|| counted(n, severity));
    list([
        some(counts.errors, "error"),
        some(counts.warnings, "warning"),
        some(counts.lints, "lint"),
    ])
}

/// For instance `12 of 15, before 14 of 15`.
fn from_to(old: &Described, new: &Described) -> String {
    format!("{}, before {}", described(new), described(old))
}

/// The functions with entries, for instance `12 of 15`.
#[must_use]
pub fn described(described: &Described) -> String {
    let all = described.functions.saturating_add(described.undescribed);
    format!("{} of {}", grouped(described.functions), grouped(all))
}

/// `cfa-mismatch: 15, before 12: 4 new, 1 fixed in 2 files`.
pub(super) fn rule(rule: &RuleChange) -> String {
    let some = |n: u64, what: &str| (n > 0).then(|| format!("{} {what}", grouped(n)));
    let parts = list([
        some(rule.appeared, "new"),
        some(rule.fixed, "fixed"),
        some(rule.missing, "missing"),
        some(rule.changed, "changed"),
    ]);
    let parts = if parts.is_empty() { "not listed, or undecided".to_owned() } else { parts };
    let (old, new) = (grouped(rule.old), grouped(rule.new));
    let files = counted(rule.files, "file");
    format!("{}: {new}, before {old}: {parts}, in {files}", printable(&rule.rule))
}

/// `format V3, before V2: 120 files, sections of 9,000 bytes, before 10,000 (90.0 %)`.
pub(super) fn section(change: &SectionChange) -> String {
    let format = match change.old == change.new {
        true => printable(&change.new),
        false => format!("{}, before {}", printable(&change.new), printable(&change.old)),
    };
    let files = counted(change.files, "file");
    let (old, new) = (grouped(change.old_bytes), counted(change.new_bytes, "byte"));
    let share = percent(change.new_bytes, change.old_bytes);
    format!("format {format}: {files}, sections of {new}, before {old} ({share})")
}

/// `compiler GCC 14.2.0, before GCC 13.1.0: 120 files`.
pub(super) fn producer(change: &ProducerChange) -> String {
    let names = |names: &[String]| match names {
        [] => "none".to_owned(),
        names => printable(names.join(", ")),
    };
    let files = counted(change.files, "file");
    let kind = printable(&change.kind);
    format!("{kind} {}, before {}: {files}", names(&change.new), names(&change.old))
}

/// `libfoo: functions have lost their entries: 10 of 15, before 12 of 15`, and the share if it fell.
pub(super) fn package(package: &PackageChange) -> String {
    let coverage = (package.files > 0).then(|| {
        let functions = from_to(&package.old, &package.new);
        format!("{}: {functions}", coverage_verdict(package.verdict))
    });
    let parts: Vec<String> = coverage.into_iter().chain(fallen_share(package)).collect();
    format!("{}: {}", printable(&package.package), parts.join("; "))
}

/// `80.0 % of its code has entries, before 93.1 %`, if that share fell.
#[must_use]
pub fn fallen_share(package: &PackageChange) -> Option<String> {
    let [old, new] = package.shares.filter(|_| package.share_fell)?;
    let share = |of: Share| percent(of.described_bytes, of.code_bytes);
    Some(format!("{} of its code has entries, before {}", share(new), share(old)))
}

/// `git: 44 files are gone, with 3 errors`.
#[must_use]
pub fn missing(missing: &MissingFiles) -> String {
    let package = missing.package.as_ref().map_or("in no package".to_owned(), printable);
    let what = match (missing.is_whole_package(), missing.files) {
        (true, 1) => format!("{package}: its only file is gone"),
        (true, files) => format!("{package}: all {} are gone", counted(files, "file")),
        (false, 1) => format!("{package}: 1 of {} is gone", counted(missing.of, "file")),
        (false, files) => {
            format!("{package}: {} of {} are gone", grouped(files), counted(missing.of, "file"))
        }
    };
    match missing.findings.all() {
        0 => what,
        _ => format!("{what}, with {}", severities(&missing.findings)),
    }
}

/// The file's name.
pub(super) fn name(change: &FileChange) -> String {
    change.name().map_or(String::new(), |name| printable(name.to_string()))
}

/// The old name if it differs, and how the files were matched.
#[must_use]
pub fn matched(change: &FileChange) -> Option<String> {
    let how = match change.matched? {
        Matched::Name => return None,
        Matched::Version => "another version of",
        Matched::Root | Matched::Folder => "before",
        Matched::Content => "the same bytes as",
    };
    Some(format!("{how} {}", printable(change.old.as_ref()?.to_string())))
}

/// What happened to the file as a whole.
#[must_use]
pub fn became(change: &FileChange) -> Option<String> {
    let what = match change.became? {
        Became::Unreadable => "can no longer be read",
        Became::SectionLost => "has lost its SFrame section",
        Became::Came => "is new",
        Became::Gone => "is missing from the new scan",
        Became::OtherKind => "is another kind of file",
        Became::Readable => "can be read again",
        Became::SectionGained => "now has an SFrame section",
        Became::Unmatched if change.old.is_some() => {
            "only in the old scan: it may or may not be missing"
        }
        Became::Unmatched => "only in the new scan: it may or may not be new",
    };
    let reason = change.reason.as_ref().map(|reason| format!(": {}", printable(reason)));
    Some(format!("{what}{}", reason.unwrap_or_default()))
}

/// What happened to a finding; precedes the rule's name.
pub(super) const fn change(change: Change) -> &'static str {
    match change {
        Change::New => "new",
        Change::Changed => "changed",
        Change::Fixed => "fixed",
    }
}

/// `CFA is rbp+8, CFI says rbp+16`.
pub(super) fn message(finding: &FindingChange) -> String {
    let message = finding.place().map_or("", |place| place.message.as_str());
    printable(message)
}

/// The rule's name.
pub(super) fn rule_name(finding: &FindingChange) -> String {
    printable(&finding.rule)
}

/// The place of a finding, if anything is known of it.
pub(super) fn at(finding: &FindingChange) -> Option<String> {
    let place = finding.place().map(place).filter(|place| !place.is_empty())?;
    Some(format!("at {place}"))
}

/// The undecided changes of a file, one per line.
pub fn undecided(change: &FileChange) -> impl Iterator<Item = String> {
    change.counts.iter().map(count).chain(change.undecided.iter().map(printable))
}

/// The old content of a changed finding.
#[must_use]
pub fn before(finding: &FindingChange) -> Option<String> {
    let (old, new) = finding.old.as_ref().zip(finding.new.as_ref())?;
    if old.functions != new.functions {
        let (old, new) = (counted(old.functions, "function"), grouped(new.functions));
        return Some(format!("in {new}, before {old}"));
    }
    (old.message != new.message).then(|| format!("before: {}", printable(&old.message)))
}

/// `f+0x4, row 1, 0x401004, and 12 more functions`.
#[must_use]
pub fn place(place: &Place) -> String {
    let mut parts = Vec::new();
    if let Some(symbol) = &place.symbol {
        let offset = place.offset.filter(|offset| *offset > 0);
        let offset = offset.map_or(String::new(), |offset| format!("+{offset:#x}"));
        parts.push(format!("{}{offset}", printable(symbol)));
    } else if let Some(section) = &place.section {
        parts.push(printable(section));
    }
    parts.extend(place.row.map(|row| format!("row {row}")));
    parts.extend(place.address.as_ref().map(|address| format!("code {address}")));
    parts.extend(place.field.as_ref().map(printable));
    let more = place.functions.saturating_sub(1);
    if more > 0 {
        parts.push(format!("and {}", counted(more, "more function")));
    }
    parts.join(", ")
}

/// For instance `error bad-info: 15, before 12`, and what is unknown about the listed findings.
fn count(count: &CountChange) -> String {
    let undecided = count.undecided_old.saturating_add(count.undecided_new);
    let left = match undecided {
        0 => "not all of them are listed".to_owned(),
        n => format!("{} not known to be new or fixed", counted(n, "listed finding")),
    };
    let (severity, rule) = (count.severity.name(), printable(&count.rule));
    format!("{severity} {rule}: {}, before {}: {left}", grouped(count.new), grouped(count.old))
}

/// The change of the coverage, in one line.
#[must_use]
pub fn coverage(coverage: &CoverageChange) -> String {
    format!("{}: {}", coverage_verdict(coverage.verdict), from_to(&coverage.old, &coverage.new))
}

/// The phrase for an overall change of coverage.
#[must_use]
pub const fn coverage_verdict(verdict: CoverageVerdict) -> &'static str {
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

/// The causes and functions of a coverage change, one line each, with at most `names` functions in a line.
#[must_use]
pub fn causes(coverage: &CoverageChange, names: usize) -> Vec<String> {
    let mut lines: Vec<String> = (coverage.causes.iter())
        .map(|cause| {
            let (old, new) = (grouped(cause.old), grouped(cause.new));
            format!("{}: {new}, before {old}", printable(&cause.cause))
        })
        .collect();
    let (with, without): (Vec<_>, Vec<_>) =
        coverage.functions.iter().partition(|f| f.new.is_none());
    lines.extend(functions(&without, names, "without an entry"));
    lines.extend(functions(&with, names, "no longer without an entry, or gone"));
    lines
}

fn functions(functions: &[&UndescribedFunction], most: usize, what: &str) -> Option<String> {
    let names: Vec<String> = (functions.iter().take(most))
        .map(|function| {
            let known = if function.known { "" } else { " (?)" };
            format!("{}{known}", printable(&function.symbol))
        })
        .collect();
    let more = functions.len().saturating_sub(most) as u64;
    let more = if more > 0 { format!(" and {} more", grouped(more)) } else { String::new() };
    (!names.is_empty()).then(|| format!("{what}: {}{more}", names.join(", ")))
}

/// What people call the table that SFrame was compared with.
#[must_use]
pub fn compared_with(finding: &FindingChange) -> String {
    let noun = |place: &Place| UnwindTable::noun_of(place.compared_with);
    match (finding.old.as_ref().map(noun), finding.new.as_ref().map(noun)) {
        (Some(old), Some(new)) if old != new => format!("{new} (before: {old})"),
        (old, new) => new.or(old).unwrap_or(UnwindTable::noun_of(None)).to_owned(),
    }
}

/// The meaning of the marks of a table.
fn legend(finding: &FindingChange) -> String {
    let sides = finding.table.iter().map(|line| line.side);
    let sides = Side::legend(sides, "SFrame", &compared_with(finding));
    match finding.change {
        Change::Changed => format!("< old scan, > new scan; {sides}"),
        Change::New | Change::Fixed => sides,
    }
}

/// The lines of a table, with the legend first.
pub(super) fn table(finding: &FindingChange) -> Vec<String> {
    if finding.table.is_empty() {
        return Vec::new();
    }
    let changed = finding.change == Change::Changed;
    let cells = |line: &TableLine| -> [String; 4] {
        let frame = &line.frame;
        let texts = [&line.start, &frame.cfa, &frame.signed_ra(), &frame.fp];
        texts.map(printable)
    };
    let title = ["PC", "CFA", "RA", "FP"].map(str::to_owned);
    let rows: Vec<[String; 4]> =
        std::iter::once(title).chain(finding.table.iter().map(cells)).collect();
    let width = |column: usize| column_width(rows.iter().filter_map(|row| row.get(column)));
    let [a, b, c, d] = [0, 1, 2, 3].map(width);
    let marks = std::iter::once("  ".to_owned()).chain(finding.table.iter().map(|line| {
        let scan = if changed { line.scan.mark() } else { ' ' };
        format!("{scan}{}", line.side.mark())
    }));
    let mut lines: Vec<String> = rows
        .iter()
        .zip(marks)
        .map(|([pc, cfa, ra, fp], marks)| {
            format!("{marks} {pc:a$}  {cfa:b$}  {ra:c$}  {fp:d$}").trim_end().to_owned()
        })
        .collect();
    if let Some(title) = lines.first_mut() {
        title.push_str(&format!("  ({})", legend(finding)));
    }
    lines
}
