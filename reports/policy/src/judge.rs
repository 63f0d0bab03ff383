//! Applies a policy to records.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sframe_history::{FileIdentity, Identity};
use sframe_record::numbers::counted;
use sframe_record::text::printable;
use sframe_record::{
    Finding, Record, RuleCount, Severity, Status, Tail, Undecided, UndecidedCause, catalogue,
};
use toml::value::{Date, Datetime};

use crate::baseline::{Baseline, Entry};
use crate::judging::Judging;
use crate::policy::{Counts, Policy};
use crate::suppression::Suppression;

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
        let uses = vec![Use::default(); policy.suppressions.len()];
        let files = policy.baseline.iter().flat_map(Baseline::files);
        let baseline_files = files.map(|file| (file, false)).collect();
        let today = day(SystemTime::now());
        Judge { policy, today, uses, unchecked: BTreeSet::new(), baseline_files }
    }

    /// Judges a scan that does not check these rules, and cannot say that their findings are fixed.
    #[must_use]
    pub fn without(self, unchecked: BTreeSet<&'static str>) -> Judge {
        Judge { unchecked, ..self }
    }

    /// The record with the severities that its findings have under the policy. Those that do not count move to
    /// [`Record::suppressed`].
    #[must_use]
    pub fn judge<'r>(&mut self, record: Record<'r>) -> Record<'r> {
        let (head, findings, tail) = record.split();
        let mut judging = self.begin(head);
        let findings = findings.into_iter();
        let findings = findings.filter_map(|finding| self.finding(&mut judging, finding)).collect();
        Record { findings, ..self.end(judging, tail) }
    }

    /// Begins to judge the findings of a file. `head` is its record without its findings and its tail.
    #[must_use]
    pub fn begin<'r>(&mut self, head: Record<'r>) -> Judging<'r> {
        let relative = match self.policy.suppressions.as_slice() {
            [] => String::new(),
            _ => self.policy.root.relative(&head.path),
        };
        let is_about = |suppression: &Suppression| suppression.is_about_file(&head, &relative);
        let about = self.policy.suppressions.iter().enumerate();
        let about = about.filter(|(_, suppression)| is_about(suppression));
        let about: Vec<usize> = about.map(|(place, _)| place).collect();
        if matches!(head.status, Status::Checked | Status::NoSection | Status::Archive) {
            for place in &about {
                self.uses.get_mut(*place).into_iter().for_each(|used| used.met_file = true);
            }
            if let Some(baseline) = &self.policy.baseline
                && !self.baseline_files.is_empty()
            {
                let file = baseline.file(&head);
                let name = FileIdentity::without_versions(file.name());
                let known = self.baseline_files.get_mut(&name);
                known.into_iter().for_each(|checked| *checked = true);
            }
        }
        Judging::new(head, about)
    }

    /// The next finding of the file, with the severity that it has under the policy; `None` if it does not count.
    #[must_use]
    pub fn finding<'r>(
        &mut self,
        judging: &mut Judging<'r>,
        finding: Finding<'r>,
    ) -> Option<Finding<'r>> {
        let verdict = self.of_finding(judging, &finding);
        judging.add(finding, verdict)
    }

    /// The record of the file without its findings, whose tail has what the findings count under the policy.
    #[must_use]
    pub fn end<'r>(&mut self, judging: Judging<'r>, tail: Tail<'r>) -> Record<'r> {
        let unlisted = |count: &RuleCount<'_>, number| self.of_unlisted(&judging, count, number);
        let (mut tallies, unlisted) = judging.tally(&tail.counts, unlisted);
        let mut undecided = tail.undecided;
        if unlisted > 0 && self.policy.needs_each_finding() {
            let number = counted(unlisted, "finding");
            let reason =
                format!("baseline and suppressions by code: {number} not listed, which count");
            let cause = UndecidedCause::UnlistedFindings;
            undecided.push(Undecided { section: None, cause, reason: reason.into() });
        }
        let counts = tallies.counts();
        let (head, newly) = judging.finish(tallies.suppressed);
        let mut suppressed = tail.suppressed;
        suppressed.extend(newly);
        head.ending(Tail { counts, suppressed, undecided })
    }

    /// What a listed finding counts.
    fn of_finding(&mut self, judging: &mut Judging<'_>, finding: &Finding<'_>) -> Counts {
        let (rule, known) = (finding.rule.as_str(), finding.known.as_deref());
        let applies = |suppression: &Suppression| {
            suppression.is_about_rule(rule, known) && suppression.is_about_code(finding)
        };
        if let Some(place) = self.applying(judging, applies) {
            return self.suppressed_by(place, finding.weight());
        }
        let level = self.policy.level(rule, finding.severity, known);
        if matches!(level, Counts::Not { .. }) {
            return level;
        }
        if let Some(baseline) = &mut self.policy.baseline
            && finding.severity != Severity::Lint
            && let file = judging.file(|head| baseline.file(head))
            && baseline.take(Identity::of(file, finding), finding.weight())
        {
            return Counts::Not { reason: "already in the baseline".to_owned() };
        }
        level
    }

    /// The position of the first suppression about the file that has an effect and is selected.
    fn applying(
        &self,
        judging: &Judging<'_>,
        selects: impl Fn(&Suppression) -> bool,
    ) -> Option<usize> {
        let of_file = judging.suppressions.iter().copied();
        let applies = |of: &Suppression| !of.is_expired(self.today) && selects(of);
        of_file.into_iter().find(|place| self.policy.suppressions.get(*place).is_some_and(applies))
    }

    /// What findings count that a record does not list.
    fn of_unlisted(&mut self, judging: &Judging<'_>, count: &RuleCount<'_>, number: u64) -> Counts {
        let (rule, known) = (count.rule.as_str(), count.known.as_deref());
        let applies = |suppression: &Suppression| {
            !suppression.needs_each_finding() && suppression.is_about_rule(rule, known)
        };
        match self.applying(judging, applies) {
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
        let is_checked = |(entry, _): &(&Entry, u64)| {
            let is_met = self
                .baseline_files
                .get(&FileIdentity::without_versions(&entry.file))
                .is_some_and(|met| *met);
            is_met && !self.unchecked.contains(&*entry.rule)
        };
        let (fixed, open): (Vec<_>, Vec<_>) = rest.partition(is_checked);
        let mut notes: Vec<String> =
            fixed.iter().take(FIXED).map(|(entry, rest)| fixed_note(entry, *rest)).collect();
        if self.policy.baseline.as_ref().is_some_and(Baseline::is_as_typed) {
            notes.push(
                "the baseline has format 1, which holds paths as they were typed: write it again, so that it \
                 holds in other folders"
                    .to_owned(),
            );
        }
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

fn fixed_note(Entry { rule, file, function, .. }: &Entry, count: u64) -> String {
    let function = function.as_deref().map(|name| format!(" in {}", printable(name)));
    let (rule, file, function) =
        (printable(&**rule), printable(&**file), function.unwrap_or_default());
    let times = if count == 1 { String::new() } else { format!(", {count} times") };
    format!("fixed: {rule} in {file}{function}{times}")
}

/// The day of a time (UTC), in the years 1970 to 9999.
fn day(time: SystemTime) -> Date {
    /// The last second of the year 9999, in seconds since 1970.
    const LAST: Duration = Duration::from_secs(253_402_300_799);
    let time = time.duration_since(UNIX_EPOCH).unwrap_or_default().min(LAST);
    let text = humantime::format_rfc3339_seconds(UNIX_EPOCH + time).to_string();
    let written: Option<Datetime> = text.parse().ok();
    written.and_then(|written| written.date).unwrap_or(Date { year: 9999, month: 12, day: 31 })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The days that date(1) prints.
    #[test]
    fn days_are_those_of_the_calendar() {
        for (seconds, date) in [
            (0, "1970-01-01"),
            (951_868_799, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_795_823_999, "2026-11-27"),
            (253_402_300_799, "9999-12-31"),
            (1 << 40, "9999-12-31"),
        ] {
            assert_eq!(day(UNIX_EPOCH + Duration::from_secs(seconds)).to_string(), date);
        }
        assert_eq!(day(UNIX_EPOCH - Duration::from_secs(1)).to_string(), "1970-01-01");
    }
}
