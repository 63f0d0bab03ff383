//! Counts how often each rule is broken, and decides which findings are kept.

use sframe_validator::rules::{Rule, Severity};

use super::Options;
use crate::rules::CATALOGUE;

/// Counts by rule.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    /// The numbers of all and of kept findings, in the catalogue's order.
    counts: Vec<(u64, u64)>,
    options: Options,
}

impl Tally {
    pub(super) fn new(options: &Options) -> Tally {
        Tally { counts: vec![(0, 0); CATALOGUE.len()], options: *options }
    }

    fn entry(&mut self, rule: &'static Rule) -> Option<&mut (u64, u64)> {
        let applies = self.options.pedantic || rule.severity > Severity::Lint;
        let place = CATALOGUE.iter().position(|known| *known == rule).filter(|_| applies)?;
        self.counts.get_mut(place)
    }

    /// Adds `number` violations of a rule.
    pub(super) fn count(&mut self, rule: &'static Rule, number: u64) {
        if let Some((all, _)) = self.entry(rule) {
            *all = all.saturating_add(number);
        }
    }

    /// Whether one more finding of a rule should be kept.
    pub(super) fn keep(&mut self, rule: &'static Rule) -> bool {
        let keep = self.options.keep;
        let Some((_, kept)) = self.entry(rule).filter(|(_, kept)| keep.has_room(*kept)) else {
            return false;
        };
        *kept += 1;
        true
    }

    pub(super) fn options(&self) -> &Options {
        &self.options
    }

    /// The broken rules and their counts.
    pub(super) fn counts(&self) -> Vec<(&'static Rule, u64)> {
        let all = CATALOGUE.iter().copied().zip(self.counts.iter().map(|(all, _)| *all));
        all.filter(|(_, count)| *count > 0).collect()
    }
}
