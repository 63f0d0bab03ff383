//! How many of a file's findings are cases of compilers' traits.
//!
//! Findings with one pattern are listed once, and some may be of other code: each is looked at before it is counted as a case.

use std::collections::BTreeMap;

/// The rules about CFI that the code proves wrong.
pub(crate) const RULES: [&str; 2] = ["inherited-error", "cfi-contradicts-code"];

/// The number of cases of traits in a file, of all whose findings were looked at.
#[derive(Clone, Debug, Default)]
pub struct Traits {
    /// By rule and defect.
    counts: BTreeMap<(String, &'static str), u64>,
    /// By rule: findings of functions that are counted already, which are no cases.
    others: BTreeMap<String, u64>,
}

impl Traits {
    /// Whether findings of a rule may be cases of traits.
    #[must_use]
    pub fn are_of(rule: &str) -> bool {
        RULES.contains(&rule)
    }

    /// Adds a finding of a rule, which represents a number of findings, and its trait.
    pub fn add(&mut self, rule: &str, weight: u64, id: Option<&'static str>) {
        match id {
            Some(id) => {
                let count = self.counts.entry((rule.to_owned(), id)).or_default();
                *count = count.saturating_add(weight);
            }
            None if weight == 0 => *self.others.entry(rule.to_owned()).or_default() += 1,
            None => {}
        }
    }

    /// The number of findings of a rule that are cases. A function with a case and another finding of the pattern counts as the
    /// other.
    pub(crate) fn count(&self, rule: &str, id: &str) -> u64 {
        let mut found = self.counts.iter();
        let found = found.find(|((of, defect), _)| of == rule && *defect == id);
        let others = self.others.get(rule).copied().unwrap_or(0);
        found.map_or(0, |(_, count)| *count).saturating_sub(others)
    }
}
