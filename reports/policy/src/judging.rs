//! What is kept of a file while its findings are judged.

use std::collections::BTreeMap;

use sframe_history::FileIdentity;
use sframe_record::{Finding, Record, RuleCount, Suppressed, Text};

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
    listed: Vec<Listed<'r>>,
    /// The first suppressed findings.
    suppressed: Vec<Suppressed<'r>>,
}

/// The findings of a rule with the same verdict.
#[derive(Debug)]
struct Listed<'r> {
    rule: Text<'r>,
    known: Option<Text<'r>>,
    verdict: Counts,
    weight: u64,
}

impl<'r> Judging<'r> {
    pub(crate) const fn new(head: Record<'r>, suppressions: Vec<usize>) -> Judging<'r> {
        Judging { head, file: None, suppressions, listed: Vec::new(), suppressed: Vec::new() }
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
        let is_same = |of: &&mut Listed<'_>| {
            of.rule == finding.rule && of.known == finding.known && of.verdict == verdict
        };
        match self.listed.iter_mut().find(is_same) {
            Some(of) => of.weight = of.weight.saturating_add(weight),
            None => self.listed.push(Listed {
                rule: finding.rule.clone(),
                known: finding.known.clone(),
                verdict: verdict.clone(),
                weight,
            }),
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
        let of_reason =
            |of: &&mut Suppressed<'_>| of.reason.as_str() == reason && of.rule == finding.rule;
        match self.suppressed.iter_mut().find(of_reason) {
            Some(of) if of.findings.len() < LISTED => of.findings.push(finding),
            Some(_) => {}
            None => self.suppressed.push(Suppressed {
                rule: finding.rule.clone(),
                reason: Text::from(reason),
                count: 0,
                findings: vec![finding],
            }),
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
            let of_count = |of: &&Listed<'_>| of.rule == count.rule && of.known == count.known;
            let mut rest = count.count;
            for of in self.listed.iter().filter(of_count) {
                let weight = of.weight.min(rest);
                rest -= weight;
                tallies.add(count, &of.verdict, weight);
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
            let is_this =
                |of: &Suppressed<'_>| of.reason.as_str() == reason && of.rule.as_str() == rule;
            let findings = listed.iter_mut().find(|of| is_this(of));
            let findings = findings.map(|of| std::mem::take(&mut of.findings)).unwrap_or_default();
            Suppressed { rule: Text::from(rule), reason: Text::from(reason), count, findings }
        });
        let suppressed = suppressed.collect();
        (self.head, suppressed)
    }
}

/// The counts of a record under a policy.
#[derive(Debug, Default)]
pub(crate) struct Tallies<'r> {
    counts: Vec<RuleCount<'r>>,
    /// By reason and rule.
    pub(crate) suppressed: BTreeMap<(String, String), u64>,
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

    pub(crate) fn counts(&mut self) -> Vec<RuleCount<'r>> {
        let counts = std::mem::take(&mut self.counts);
        counts.into_iter().filter(|count| count.count > 0).collect()
    }
}
