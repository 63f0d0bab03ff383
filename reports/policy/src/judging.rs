//! What is kept of a file while its findings are judged.

use std::collections::{BTreeMap, HashMap};

use sframe_history::FileIdentity;
use sframe_record::{Finding, Record, RuleCount, Severity, Suppressed, Text};

use crate::policy::Counts;

/// The number of suppressed findings of each reason and rule that a record lists.
const LISTED: usize = 100;

/// A file whose findings are judged one by one: see [`Judge::begin`](crate::Judge::begin).
#[derive(Debug)]
pub struct Judging<'r> {
    head: Record<'r>,
    file: Option<FileIdentity>,
    /// The positions of the suppressions that are about the file.
    pub(crate) suppressions: Vec<usize>,
    /// The numbers of findings by verdict, in the order of the first ones, of each rule and known defect.
    listed: HashMap<RuleName<'r>, Vec<(Counts, u64)>>,
    /// The first suppressed findings, by reason and rule.
    suppressed: HashMap<(String, Text<'r>), Vec<Finding<'r>>>,
}

/// A rule, and the known defect that its findings are cases of.
type RuleName<'r> = (Text<'r>, Option<Text<'r>>);

impl<'r> Judging<'r> {
    pub(crate) fn new(head: Record<'r>, suppressions: Vec<usize>) -> Judging<'r> {
        let (listed, suppressed) = (HashMap::new(), HashMap::new());
        Judging { head, file: None, suppressions, listed, suppressed }
    }

    /// The record of the file, without its findings and its tail.
    #[must_use]
    pub const fn head(&self) -> &Record<'r> {
        &self.head
    }

    /// The identity of the file, which `make` makes for its first finding.
    pub(crate) fn file(&mut self, make: impl FnOnce(&Record<'_>) -> FileIdentity) -> &FileIdentity {
        self.file.get_or_insert_with(|| make(&self.head))
    }

    /// Adds a finding with its verdict. Returns it with the severity that it has; `None` if it does not count.
    pub(crate) fn add(&mut self, mut finding: Finding<'r>, verdict: Counts) -> Option<Finding<'r>> {
        let weight = finding.weight();
        let rule = (finding.rule.clone(), finding.known.clone());
        // There are as many verdicts as suppressions and severities.
        let verdicts = self.listed.entry(rule).or_default();
        match verdicts.iter_mut().find(|(of, _)| *of == verdict) {
            Some((_, of)) => *of = of.saturating_add(weight),
            None => verdicts.push((verdict.clone(), weight)),
        }
        match verdict {
            Counts::As(severity) => {
                finding.severity = severity;
                Some(finding)
            }
            Counts::Not { reason } => {
                self.suppress(finding, reason);
                None
            }
        }
    }

    fn suppress(&mut self, finding: Finding<'r>, reason: String) {
        let listed = self.suppressed.entry((reason, finding.rule.clone())).or_default();
        if listed.len() < LISTED {
            listed.push(finding);
        }
    }

    /// The counts under the policy, of listed findings and of others, which `unlisted` judges. Also returns the number of the
    /// others.
    pub(crate) fn tally(
        &self,
        counts: &[RuleCount<'r>],
        mut unlisted: impl FnMut(&RuleCount<'r>, u64) -> Counts,
    ) -> (Tallies<'r>, u64) {
        let (mut tallies, mut number) = (Tallies::default(), 0_u64);
        for count in counts {
            let mut rest = count.count;
            let of_count = self.listed.get(&(count.rule.clone(), count.known.clone()));
            for (verdict, of) in of_count.into_iter().flatten() {
                let weight = (*of).min(rest);
                rest -= weight;
                tallies.add(count, verdict, weight);
            }
            if rest > 0 {
                number = number.saturating_add(rest);
                tallies.add(count, &unlisted(count, rest), rest);
            }
        }
        (tallies, number)
    }

    /// The record without its tail, and the findings that do not count, with the numbers in `tallies`.
    pub(crate) fn finish(
        self,
        tallies: BTreeMap<(String, String), u64>,
    ) -> (Record<'r>, Vec<Suppressed<'r>>) {
        let mut listed = self.suppressed;
        let suppressed = tallies.into_iter().map(|((reason, rule), count)| {
            let key = (reason, Text::from(rule));
            let findings = listed.remove(&key).unwrap_or_default();
            let (reason, rule) = key;
            Suppressed { rule, reason: Text::from(reason), count, findings }
        });
        let suppressed = suppressed.collect();
        (self.head, suppressed)
    }
}

/// The counts of a record under a policy.
#[derive(Debug, Default)]
pub(crate) struct Tallies<'r> {
    counts: Vec<RuleCount<'r>>,
    /// The positions of the counts.
    places: HashMap<(RuleName<'r>, Severity), usize>,
    /// By reason and rule.
    pub(crate) suppressed: BTreeMap<(String, String), u64>,
}

impl<'r> Tallies<'r> {
    fn add(&mut self, of: &RuleCount<'r>, verdict: &Counts, number: u64) {
        match verdict {
            Counts::As(severity) => {
                let rule = (of.rule.clone(), of.known.clone());
                let new = self.counts.len();
                let place = *self.places.entry((rule, *severity)).or_insert(new);
                match self.counts.get_mut(place) {
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

    pub(crate) fn counts(&mut self) -> Vec<RuleCount<'r>> {
        let counts = std::mem::take(&mut self.counts);
        counts.into_iter().filter(|count| count.count > 0).collect()
    }
}
