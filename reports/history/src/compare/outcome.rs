//! The outcome for a file: the changes of its findings, its coverage, and of the file itself.

use std::collections::{BTreeMap, HashSet};

use super::When;
use super::coverage;
use super::kept::{File, Item, Needs};
use super::matching::{Listed, Matches, have_equal_content, match_items};
use super::strings::{Id, Strings};
use super::tables;
use crate::changes::{
    Became, Change, CountChange, CoverageVerdict, FileChange, FileName, FindingChange, Matched,
    Place, RowScan,
};
use sframe_record::numbers::counted;
use sframe_record::{Severity, Status, UndecidedCause};

/// Facts that apply to all files.
#[derive(Clone, Copy)]
pub(super) struct Context<'s> {
    pub(super) strings: &'s Strings,
    /// As far as known, only one of the scans looked for lints.
    pub(super) lints_in_one: bool,
}

/// Whether the other scan certainly did not have a file that is only in one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Absence {
    /// It did not.
    Certain,
    /// It may have had it: it is incomplete, or has several files that this one could be.
    Possible,
}

/// A rule's findings in one file and their changes.
pub(super) struct RuleOutcome {
    pub(super) rule: Id,
    pub(super) severity: Severity,
    pub(super) old: u64,
    pub(super) new: u64,
    pub(super) appeared: u64,
    pub(super) fixed: u64,
    /// Findings of a file, or of a section, that the new scan does not have.
    pub(super) missing: u64,
    pub(super) changed: u64,
    pub(super) undecided: u64,
}

/// All changes in one file.
pub(super) struct Outcome {
    pub(super) change: FileChange,
    pub(super) rules: Vec<RuleOutcome>,
}

impl Outcome {
    /// Whether there are no changes.
    pub(super) fn is_empty(&self) -> bool {
        let change = &self.change;
        change.became.is_none()
            && change.findings.is_empty()
            && change.counts.is_empty()
            && change.coverage.is_none()
            && change.undecided.is_empty()
    }
}

/// The outcome for a file in both scans.
pub(super) fn of_pair(old: &File, new: &File, how: Matched, context: Context<'_>) -> Outcome {
    let strings = context.strings;
    let mut outcome = Outcome { change: change(Some(old), Some(new), strings), rules: Vec::new() };
    outcome.change.matched = Some(how);
    outcome.change.became = became(old.status, new.status);
    if outcome.change.became.is_some() {
        outcome.change.reason = new.reason.map(|reason| strings.text(reason).to_owned());
    }
    let known = Known::of(old, new, strings);
    rules(&mut outcome, Some(old), Some(new), &known, context);
    outcome.change.undecided.extend(known.why);
    coverage_of(&mut outcome.change, old, new, strings);
    finish(outcome)
}

/// The outcome for a file that is only in the scan `when`.
pub(super) fn of_single(
    file: &File,
    when: When,
    absence: Absence,
    context: Context<'_>,
) -> Outcome {
    let (old, new) = match when {
        When::Old => (Some(file), None),
        When::New => (None, Some(file)),
    };
    let mut outcome = Outcome { change: change(old, new, context.strings), rules: Vec::new() };
    let is_file = !matches!(file.status, Status::NotElf | Status::Special | Status::Archive);
    outcome.change.became = is_file.then_some(match (absence, when) {
        (Absence::Certain, When::Old) => Became::Gone,
        (Absence::Certain, When::New) => Became::Came,
        (Absence::Possible, _) => Became::Unmatched,
    });
    let known = absence == Absence::Certain;
    let sight = Sight { all: known, cfi: known, code: known, call_sites: known };
    let known = Known { old: sight, new: sight, why: Vec::new() };
    rules(&mut outcome, old, new, &known, context);
    finish(outcome)
}

/// Sorts the changes and decides whether the file got worse.
fn finish(mut outcome: Outcome) -> Outcome {
    let change = &mut outcome.change;
    change.findings.sort_by(|a, b| {
        let key = |f: &FindingChange| (f.severity, f.change);
        let (one, other) = (a.place(), b.place());
        key(a).cmp(&key(b)).then_with(|| a.rule.cmp(&b.rule)).then_with(|| {
            let key =
                |p: &Place| (p.symbol.clone(), p.offset, p.address.clone(), p.message.clone());
            one.map(key).cmp(&other.map(key))
        })
    });
    change.counts.sort_by(|a, b| (a.severity, &a.rule).cmp(&(b.severity, &b.rule)));
    let new_error = |f: &FindingChange| f.severity == Severity::Error && f.change == Change::New;
    change.worse |= matches!(change.became, Some(Became::Unreadable | Became::SectionLost))
        || change.findings.iter().any(new_error)
        || change.coverage.as_ref().is_some_and(|c| c.verdict == CoverageVerdict::Lost);
    outcome
}

fn became(old: Status, new: Status) -> Option<Became> {
    let unreadable = |status| matches!(status, Status::Unreadable | Status::Crashed);
    let other = |status| matches!(status, Status::NotElf | Status::Special | Status::Unsupported);
    match (old, new) {
        (old, new) if old == new => None,
        (old, new) if unreadable(old) && unreadable(new) => None,
        (_, new) if unreadable(new) => Some(Became::Unreadable),
        (old, _) if unreadable(old) => Some(Became::Readable),
        (Status::Checked, Status::NoSection) => Some(Became::SectionLost),
        (Status::NoSection, Status::Checked) => Some(Became::SectionGained),
        (old, new) if other(old) && other(new) => None,
        _ => Some(Became::OtherKind),
    }
}

/// What a scan could see of a file: a finding that it could see and does not have did not occur.
#[derive(Clone, Copy)]
struct Sight {
    /// All findings.
    all: bool,
    /// Findings of rules that compare with CFI.
    cfi: bool,
    /// Findings of rules that compare with machine code.
    code: bool,
    /// Findings about call sites.
    call_sites: bool,
}

impl Sight {
    const fn of(self, needs: Needs) -> bool {
        match needs {
            Needs::Section => self.all,
            Needs::Cfi => self.cfi,
            Needs::Code => self.code,
            Needs::CallSites => self.call_sites,
        }
    }
}

/// What both scans could see of a file, and why one could see less.
struct Known {
    old: Sight,
    new: Sight,
    why: Vec<String>,
}

impl Known {
    fn of(old: &File, new: &File, strings: &Strings) -> Known {
        let mut why = Vec::new();
        let mut sight = |scan: &str, file: &File, other: &File| {
            // For a file that cannot be read, that is reported already.
            let mut all = !matches!(file.status, Status::Unreadable | Status::Crashed);
            if let Some(reason) = only_in(&file.undecided, &other.undecided) {
                let reason = strings.text(reason);
                why.push(format!("the {scan} scan could not check all of it: {reason}"));
                all = false;
            }
            let both_checked = old.status == Status::Checked && new.status == Status::Checked;
            let blind = both_checked && file.coverage.is_none() && other.coverage.is_some();
            if blind && all {
                why.push(format!("the {scan} scan did not compare it with CFI"));
            }
            let has_code = file.is_proved || !other.is_proved;
            if !has_code && all {
                why.push(format!("the {scan} scan did not compare it with machine code"));
            }
            let has_call_sites = file.has_call_sites || !other.has_call_sites;
            if !has_call_sites && all {
                why.push(format!("the {scan} scan did not examine call sites"));
            }
            Sight {
                all,
                cfi: all && !blind,
                code: all && has_code,
                call_sites: all && has_call_sites,
            }
        };
        let (old, new) = (sight("old", old, new), sight("new", new, old));
        Known { old, new, why }
    }
}

/// Causes by which different parts of a file may be left out, or that are not known: only the sentence says which.
const OF_PARTS: [UndecidedCause; 4] = [
    UndecidedCause::CfiLimit,
    UndecidedCause::CfiExpression,
    UndecidedCause::Orc,
    UndecidedCause::Unknown,
];

/// The sentence about the first check that was not possible in one scan alone. The other scan has the same one if it has the
/// cause or, where that does not decide, the sentence.
fn only_in(these: &[(UndecidedCause, Id)], others: &[(UndecidedCause, Id)]) -> Option<Id> {
    let causes: HashSet<UndecidedCause> = others.iter().map(|(cause, _)| *cause).collect();
    let sentences: HashSet<Id> = others.iter().map(|(_, sentence)| *sentence).collect();
    let is_shared = |cause: &UndecidedCause, sentence: &Id| {
        !OF_PARTS.contains(cause) && causes.contains(cause) || sentences.contains(sentence)
    };
    let mut alone = these.iter().filter(|(cause, sentence)| !is_shared(cause, sentence));
    alone.next().map(|(_, sentence)| *sentence)
}

/// Compares the findings of each rule with those of the other scan.
fn rules(
    outcome: &mut Outcome,
    old: Option<&File>,
    new: Option<&File>,
    known: &Known,
    context: Context<'_>,
) {
    let strings = context.strings;
    let mut sides: BTreeMap<&str, (Id, Severity, [Listed<'_>; 2])> = BTreeMap::new();
    // Rules that are not lints in one of the scans: both scans looked for them.
    let mut always_looked_for: HashSet<Id> = HashSet::new();
    for (side, file) in [old, new].into_iter().enumerate() {
        for item in file.into_iter().flat_map(|file| &file.items) {
            let rule = sides.entry(strings.text(item.rule));
            let (_, severity, listed) = rule.or_insert_with(|| {
                (item.rule, item.severity, [Listed::default(), Listed::default()])
            });
            // Severities may change from one version of the program to the next; the later one applies.
            *severity = item.severity;
            if item.severity != Severity::Lint {
                always_looked_for.insert(item.rule);
            }
            listed.get_mut(side).into_iter().for_each(|listed| listed.items.push(item));
        }
        for (rule, severity, count) in file.into_iter().flat_map(|file| &file.counts) {
            let known = sides.entry(strings.text(*rule));
            let (_, known, listed) =
                known.or_insert_with(|| (*rule, *severity, [Listed::default(), Listed::default()]));
            *known = *severity;
            if *severity != Severity::Lint {
                always_looked_for.insert(*rule);
            }
            if let Some(listed) = listed.get_mut(side) {
                listed.count = listed.count.saturating_add(*count);
            }
        }
    }
    for (rule, severity, [mut was, mut is]) in sides.into_values() {
        was.sort(strings);
        is.sort(strings);
        let needs = was.items.iter().chain(&is.items).map(|item| item.needs).max();
        let needs = needs.unwrap_or(Needs::Section);
        let lints = !context.lints_in_one || always_looked_for.contains(&rule);
        let sees = [known.old, known.new].map(|sight| lints && sight.of(needs));
        let matches = match_items(&was, &is, sees, strings);
        let worse = sees[0] && severity == Severity::Error && is.count > was.count;
        outcome.change.worse |= worse;
        add_changes(outcome, (rule, severity), [&was, &is], matches, strings);
    }
}

/// Adds the changes of a rule's findings.
fn add_changes(
    outcome: &mut Outcome,
    (rule, severity): (Id, Severity),
    [was, is]: [&Listed<'_>; 2],
    matches: Matches<'_>,
    strings: &Strings,
) {
    let weight = |items: &[&Item]| items.iter().map(|i| i.weight).fold(0, u64::saturating_add);
    let is_gone = matches!(
        outcome.change.became,
        Some(Became::Gone | Became::SectionLost | Became::OtherKind)
    );
    if is_gone && is.count == 0 && is.items.is_empty() {
        // What was broken there was not repaired.
        let missing = was.count.max(weight(&was.items));
        outcome.rules.push(RuleOutcome {
            rule,
            severity,
            old: was.count,
            new: 0,
            appeared: 0,
            fixed: 0,
            missing,
            changed: 0,
            undecided: 0,
        });
        return;
    }
    let change_of = |change, old: Option<&Item>, new: Option<&Item>| FindingChange {
        change,
        rule: strings.text(rule).to_owned(),
        severity,
        old: old.map(|item| place(item, strings)),
        new: new.map(|item| place(item, strings)),
        table: match (old, new) {
            (Some(old), Some(new)) => tables::both(old, new, strings),
            (Some(old), None) => tables::one(old, RowScan::Old, strings),
            (None, Some(new)) => tables::one(new, RowScan::New, strings),
            (None, None) => Vec::new(),
        },
    };
    let findings = &mut outcome.change.findings;
    findings.extend(matches.fixed.iter().map(|item| change_of(Change::Fixed, Some(item), None)));
    findings.extend(matches.new.iter().map(|item| change_of(Change::New, None, Some(item))));
    let mut changed = 0;
    let mut grown = i128::from(weight(&matches.new)) - i128::from(weight(&matches.fixed));
    for (old, new) in matches.pairs.iter().filter(|(old, new)| !have_equal_content(old, new)) {
        findings.push(change_of(Change::Changed, Some(old), Some(new)));
        changed += 1;
        grown += i128::from(new.weight) - i128::from(old.weight);
    }
    let undecided = matches.undecided_old.saturating_add(matches.undecided_new);
    if undecided > 0 || grown != i128::from(is.count) - i128::from(was.count) {
        outcome.change.counts.push(CountChange {
            rule: strings.text(rule).to_owned(),
            severity,
            old: was.count,
            new: is.count,
            undecided_old: matches.undecided_old,
            undecided_new: matches.undecided_new,
        });
    }
    outcome.rules.push(RuleOutcome {
        rule,
        severity,
        old: was.count,
        new: is.count,
        appeared: weight(&matches.new),
        fixed: weight(&matches.fixed),
        missing: 0,
        changed,
        undecided,
    });
}

fn coverage_of(change: &mut FileChange, old: &File, new: &File, strings: &Strings) {
    change.coverage = coverage::compare(old, new, strings);
    let undecided = |file: &File| file.coverage.as_ref().map_or(0, |c| c.undecided_bytes);
    let (was, is) = (undecided(old), undecided(new));
    // Code that only the new scan could compare is no open question.
    if was == 0 && is > 0 && old.coverage.is_some() && new.coverage.is_some() {
        let bytes = counted(is, "byte");
        change.undecided.push(format!("{bytes} of code could not be compared, none before"));
    }
    let uncompared = old.coverage.is_none() || new.coverage.is_none();
    if uncompared && new.status == Status::Checked && new.functions < old.functions {
        change.undecided.push(format!(
            "{} functions have entries, {} before: without CFI, it is unknown whether the others are gone",
            new.functions, old.functions
        ));
    }
}

fn place(item: &Item, strings: &Strings) -> Place {
    let text = |id: Id| strings.text(id).to_owned();
    let start = item.code.map(|(start, _)| start).or(item.function);
    Place {
        message: text(item.message),
        symbol: item.symbol.map(|symbol| text(symbol.text)),
        symbol_hex: item.symbol.and_then(|symbol| symbol.hex).map(text),
        section: item.section.map(text),
        address: start.map(|start| format!("{start:#x}")),
        offset: item.relative(),
        row: item.row,
        field: item
            .field
            .map(|(name, value)| format!("{} = {}", strings.text(name), strings.text(value))),
        compared_with: item.compared_with,
        functions: item.weight,
    }
}

/// A change of a file without any details.
fn change(old: Option<&File>, new: Option<&File>, strings: &Strings) -> FileChange {
    FileChange {
        old: old.map(|file| file_name(file, strings)),
        new: new.map(|file| file_name(file, strings)),
        matched: None,
        worse: false,
        became: None,
        reason: None,
        findings: Vec::new(),
        counts: Vec::new(),
        coverage: None,
        undecided: Vec::new(),
    }
}

/// The name of a file.
pub(super) fn file_name(file: &File, strings: &Strings) -> FileName {
    let text = |id: Id| strings.text(id).to_owned();
    FileName {
        path: text(file.path.text),
        path_hex: file.path.hex.map(text),
        inside: file.inside.map(|name| text(name.text)),
        inside_hex: file.inside.and_then(|name| name.hex).map(text),
        member: file.member.map(|name| text(name.text)),
        member_hex: file.member.and_then(|name| name.hex).map(text),
        package: file.package.map(|(name, _)| text(name)),
    }
}
