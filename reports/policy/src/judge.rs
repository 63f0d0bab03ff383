//! Applies a policy to records.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use sframe_history::Identity;
use sframe_record::numbers::counted;
use sframe_record::text::printable;
use sframe_record::{
    Finding, Record, RuleCount, Severity, Status, Suppressed, Text, Undecided, catalogue,
};

use crate::baseline::{Baseline, Entry};
use crate::policy::{Counts, Policy};
use crate::suppression::Suppression;

/// The number of suppressed findings of each reason and rule that a record lists.
const LISTED: usize = 100;
/// The number of fixed findings that are reported one by one.
const FIXED: usize = 20;

/// Applies a policy to the records of a scan.
#[derive(Debug)]
pub struct Judge {
    policy: Policy,
    today: Date,
    uses: Vec<Use>,
    /// The rules that the scan does not check.
    unchecked: BTreeSet<&'static str>,
    /// The files of the baseline, and whether each was checked.
    baseline_files: BTreeMap<String, bool>,
}

/// How a suppression was used.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    /// Whether a file was checked that it is about.
    met_file: bool,
    findings: u64,
}

impl Judge {
    /// Applies `policy`, as of today (UTC).
    #[must_use]
    pub fn new(policy: Policy) -> Judge {
        let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
        let uses = vec![Use::default(); policy.suppressions.len()];
        let files = policy.baseline.iter().flat_map(Baseline::files);
        let baseline_files = files.map(|file| (file, false)).collect();
        Judge { policy, today, uses, unchecked: BTreeSet::new(), baseline_files }
    }

    /// The same for a scan that does not check these rules: it cannot say that their findings are fixed.
    #[must_use]
    pub fn without(self, unchecked: BTreeSet<&'static str>) -> Judge {
        Judge { unchecked, ..self }
    }

    /// The record with the severities that its findings have under the policy. Those that do not count move to
    /// [`Record::suppressed`].
    #[must_use]
    pub fn judge<'r>(&mut self, mut record: Record<'r>) -> Record<'r> {
        let checked =
            matches!(record.status, Status::Checked | Status::NoSection | Status::Archive);
        if checked {
            for (suppression, used) in self.policy.suppressions.iter().zip(&mut self.uses) {
                used.met_file |= suppression.is_about_file(&record);
            }
            if !self.baseline_files.is_empty()
                && let Some(checked) =
                    self.baseline_files.get_mut(&Identity::file_name(&record.name()))
            {
                *checked = true;
            }
        }
        if record.counts.is_empty() {
            return record;
        }
        let findings = std::mem::take(&mut record.findings);
        let verdicts: Vec<Counts> =
            findings.iter().map(|finding| self.of_finding(&record, finding)).collect();
        let mut tallies = Tallies::default();
        let mut unlisted = 0_u64;
        for count in std::mem::take(&mut record.counts) {
            let of_count =
                |finding: &Finding<'_>| finding.rule == count.rule && finding.known == count.known;
            let mut rest = count.count;
            for (finding, verdict) in findings.iter().zip(&verdicts).filter(|(f, _)| of_count(f)) {
                let weight = finding.weight().min(rest);
                rest -= weight;
                tallies.add(&count, verdict, weight);
            }
            if rest > 0 {
                unlisted = unlisted.saturating_add(rest);
                let verdict = self.of_unlisted(&record, &count, rest);
                tallies.add(&count, &verdict, rest);
            }
        }
        let (counts, suppressed) = tallies.finish();
        record.counts = counts;
        record.suppressed = suppressed;
        for (mut finding, verdict) in findings.into_iter().zip(verdicts) {
            match verdict {
                Counts::As(severity) => {
                    finding.severity = severity;
                    record.findings.push(finding);
                }
                Counts::Not { reason } => list(&mut record.suppressed, finding, &reason),
            }
        }
        if unlisted > 0 && self.policy.needs_each_finding() {
            let number = counted(unlisted, "finding");
            let reason =
                format!("baseline and suppressions by code: {number} not listed, which count");
            record.undecided.push(Undecided { section: None, reason: reason.into() });
        }
        record
    }

    /// What a listed finding counts.
    fn of_finding(&mut self, record: &Record<'_>, finding: &Finding<'_>) -> Counts {
        let (rule, known) = (finding.rule.as_str(), finding.known.as_deref());
        let today = self.today;
        let applies = |suppression: &&Suppression| {
            !suppression.is_expired(today)
                && suppression.is_about_file(record)
                && suppression.is_about_rule(rule, known)
                && suppression.is_about_code(finding)
        };
        if let Some(place) = self.policy.suppressions.iter().position(|of| applies(&of)) {
            return self.suppressed_by(place, finding.weight());
        }
        let level = self.policy.level(rule, finding.severity, known);
        if matches!(level, Counts::Not { .. }) {
            return level;
        }
        if let Some(baseline) = &mut self.policy.baseline
            && finding.severity != Severity::Lint
            && baseline.take(Identity::of(record, finding), finding.weight())
        {
            return Counts::Not { reason: "already in the baseline".to_owned() };
        }
        level
    }

    /// What findings count that a record does not list.
    fn of_unlisted(&mut self, record: &Record<'_>, count: &RuleCount<'_>, number: u64) -> Counts {
        let (rule, known) = (count.rule.as_str(), count.known.as_deref());
        let today = self.today;
        let applies = |suppression: &Suppression| {
            !suppression.needs_each_finding()
                && !suppression.is_expired(today)
                && suppression.is_about_file(record)
                && suppression.is_about_rule(rule, known)
        };
        match self.policy.suppressions.iter().position(applies) {
            Some(place) => self.suppressed_by(place, number),
            None => self.policy.level(rule, count.severity, known),
        }
    }

    fn suppressed_by(&mut self, place: usize, number: u64) -> Counts {
        if let Some(used) = self.uses.get_mut(place) {
            used.findings = used.findings.saturating_add(number);
        }
        let reason = self.policy.suppressions.get(place).map(|of| printable(&of.reason));
        Counts::Not { reason: reason.unwrap_or_default() }
    }

    /// A finding of a file that has too many for one record: its severity under the policy; `None` if it does not count.
    #[must_use]
    pub fn severity(&self, finding: &Finding<'_>) -> Option<Severity> {
        let known = finding.known.as_deref();
        match self.policy.level(&finding.rule, finding.severity, known) {
            Counts::As(severity) => Some(severity),
            Counts::Not { .. } => None,
        }
    }

    /// What a person should know about the policy after the scan: suppressions that are expired or match nothing, and
    /// findings of the baseline that are fixed, or were not looked for.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self.suppression_notes();
        notes.extend(self.baseline_notes());
        notes
    }

    fn suppression_notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for (suppression, used) in self.policy.suppressions.iter().zip(&self.uses) {
            let (place, reason) = (&suppression.place, printable(&suppression.reason));
            let is_expired = suppression.is_expired(self.today);
            if let Some(expires) = suppression.expires.filter(|_| is_expired) {
                notes.push(format!(
                    "{place}: the suppression expired on {expires}, and has no effect ({reason})"
                ));
            } else if used.met_file && used.findings == 0 && self.looks_for(suppression) {
                notes.push(format!(
                    "{place}: the suppression matches no finding: remove it ({reason})"
                ));
            }
        }
        notes
    }

    /// Whether the scan checks a rule that the suppression is about.
    fn looks_for(&self, suppression: &Suppression) -> bool {
        let Some(pattern) = &suppression.rule else { return true };
        let mut selected =
            catalogue::all().filter(|rule| pattern.selects_rule(rule.name)).peekable();
        // Without any, it is about a known defect.
        selected.peek().is_none() || selected.any(|rule| !self.unchecked.contains(rule.name))
    }

    fn baseline_notes(&self) -> Vec<String> {
        let rest = self.policy.baseline.iter().flat_map(Baseline::rest);
        let is_checked = |entry: &&Entry| {
            let is_met = self.baseline_files.get(&entry.file_name()).is_some_and(|met| *met);
            is_met && !self.unchecked.contains(entry.rule.as_str())
        };
        let (fixed, open): (Vec<&Entry>, Vec<&Entry>) = rest.partition(is_checked);
        let mut notes: Vec<String> =
            fixed.iter().take(FIXED).map(|entry| fixed_note(entry)).collect();
        if let Some(more) = fixed.len().checked_sub(FIXED).filter(|more| *more > 0) {
            notes.push(format!("fixed: {more} more"));
        }
        if !open.is_empty() {
            let findings = counted(open.len() as u64, "finding");
            notes.push(format!(
                "{findings} of the baseline: not looked for, because this scan does not check the file or the rule"
            ));
        } else if !fixed.is_empty() {
            notes.push("write the baseline again, so that fixed findings stay fixed".to_owned());
        }
        notes
    }
}

fn fixed_note(Entry { rule, file, function, count, .. }: &Entry) -> String {
    let function = function.as_deref().map(|name| format!(" in {}", printable(name)));
    let (rule, file, function) = (printable(rule), printable(file), function.unwrap_or_default());
    let times = if *count == 1 { String::new() } else { format!(", {count} times") };
    format!("fixed: {rule} in {file}{function}{times}")
}

/// Adds a suppressed finding to the list of those with its reason.
fn list<'r>(suppressed: &mut [Suppressed<'r>], finding: Finding<'r>, reason: &str) {
    let of_reason =
        |of: &&mut Suppressed<'_>| of.reason.as_str() == reason && of.rule == finding.rule;
    if let Some(of) = suppressed.iter_mut().find(of_reason)
        && of.findings.len() < LISTED
    {
        of.findings.push(finding);
    }
}

/// The counts of a record under a policy.
#[derive(Default)]
struct Tallies<'r> {
    counts: Vec<RuleCount<'r>>,
    suppressed: BTreeMap<(String, String), u64>,
}

impl<'r> Tallies<'r> {
    fn add(&mut self, of: &RuleCount<'r>, verdict: &Counts, number: u64) {
        match verdict {
            Counts::As(severity) => {
                let is_same = |count: &&mut RuleCount<'_>| {
                    (&count.rule, &count.known, count.severity) == (&of.rule, &of.known, *severity)
                };
                match self.counts.iter_mut().find(is_same) {
                    Some(count) => count.count = count.count.saturating_add(number),
                    None => self.counts.push(RuleCount {
                        severity: *severity,
                        count: number,
                        ..of.clone()
                    }),
                }
            }
            Counts::Not { reason } => {
                let key = (reason.clone(), of.rule.as_str().to_owned());
                let count = self.suppressed.entry(key).or_default();
                *count = count.saturating_add(number);
            }
        }
    }

    fn finish(self) -> (Vec<RuleCount<'r>>, Vec<Suppressed<'r>>) {
        let suppressed = self.suppressed.into_iter().map(|((reason, rule), count)| Suppressed {
            rule: Text::from(rule),
            reason: Text::from(reason),
            count,
            findings: Vec::new(),
        });
        (self.counts.into_iter().filter(|count| count.count > 0).collect(), suppressed.collect())
    }
}
