//! Counts how often each rule is broken, and decides which findings are kept.

use sframe_validator::rules::{Rule, Severity};

use super::Options;
use crate::rules::CATALOGUE;

/// Counts by rule.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    /// The numbers of all and of kept findings, in the catalogue's order.
    counts: Vec<(u64, u64)>,
    /// The numbers of all and of kept findings that are cases of a known defect.
    known: Vec<Known>,
    options: Options,
}

/// The findings of a rule that are cases of one known defect.
#[derive(Clone, Copy, Debug)]
struct Known {
    rule: &'static Rule,
    defect: &'static str,
    all: u64,
    kept: u64,
}

impl Tally {
    pub(super) fn new(options: &Options) -> Tally {
        Tally { counts: vec![(0, 0); CATALOGUE.len()], known: Vec::new(), options: *options }
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

    /// The entry of a rule and a defect.
    fn entry_of(&mut self, rule: &'static Rule, defect: &'static str) -> Option<&mut Known> {
        let is_same = |known: &Known| known.rule == rule && known.defect == defect;
        let known = self.known.iter().position(is_same);
        let place = known.unwrap_or_else(|| {
            self.known.push(Known { rule, defect, all: 0, kept: 0 });
            self.known.len() - 1
        });
        self.known.get_mut(place)
    }

    /// Adds `number` differences that break a rule. They may be cases of a defect.
    pub(super) fn count_difference(
        &mut self,
        rule: &'static Rule,
        defect: Option<&'static str>,
        number: u64,
    ) {
        self.count(rule, number);
        if let Some(known) = defect.and_then(|defect| self.entry_of(rule, defect)) {
            known.all = known.all.saturating_add(number);
        }
    }

    /// Whether one more difference should be kept. Cases of defects do not take the place of others.
    pub(super) fn keep_difference(
        &mut self,
        rule: &'static Rule,
        defect: Option<&'static str>,
    ) -> bool {
        let Some(defect) = defect else { return self.keep(rule) };
        if self.entry(rule).is_none() {
            return false;
        }
        let keep = self.options.keep;
        let Some(known) = self.entry_of(rule, defect) else { return false };
        let has_room = keep.has_room(known.kept);
        known.kept += u64::from(has_room);
        has_room
    }

    /// The numbers of findings that are cases of known defects.
    pub(super) fn known(&self) -> Vec<(&'static Rule, &'static str, u64)> {
        self.known.iter().map(|known| (known.rule, known.defect, known.all)).collect()
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
