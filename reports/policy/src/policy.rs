//! The policy of a scan.

use sframe_history::Root;
use sframe_record::{Severity, catalogue};

use crate::baseline::Baseline;
use crate::pattern::RulePattern;
use crate::suppression::Suppression;

/// How cases of known defects count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Known {
    /// Like other findings of their rule.
    Deny,
    /// As warnings, if their rule is an error.
    #[default]
    Warn,
    /// They do not count.
    Allow,
}

/// How findings of some rules count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Allow,
    Warn,
    Deny,
}

/// What the findings of a scan count.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    known: Known,
    /// Later ones win.
    levels: Vec<(RulePattern, Level)>,
    pub(crate) suppressions: Vec<Suppression>,
    /// The folder that the paths of suppressions are relative to, besides the working folder.
    pub(crate) root: Root,
    pub(crate) baseline: Option<Baseline>,
}

/// What a finding counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Counts {
    As(Severity),
    Not { reason: String },
}

impl Policy {
    /// Sets how cases of known defects count.
    pub const fn known(&mut self, known: Known) {
        self.known = known;
    }

    /// Whether cases of known defects count like other findings of their rule.
    #[must_use]
    pub fn denies_known(&self) -> bool {
        self.known == Known::Deny
    }

    /// Findings of these rules, or cases of this known defect, do not count.
    pub fn allow(&mut self, pattern: RulePattern) {
        self.levels.push((pattern, Level::Allow));
    }

    /// Findings of these rules, or cases of this known defect, are warnings.
    pub fn warn(&mut self, pattern: RulePattern) {
        self.levels.push((pattern, Level::Warn));
    }

    /// Findings of these rules, or cases of this known defect, are errors.
    pub fn deny(&mut self, pattern: RulePattern) {
        self.levels.push((pattern, Level::Deny));
    }

    /// Paths of suppressions are also relative to `root`.
    pub fn set_root(&mut self, root: Root) {
        self.root = root;
    }

    /// Adds a suppression.
    pub fn suppress(&mut self, suppression: Suppression) {
        self.suppressions.push(suppression);
    }

    /// Findings of the baseline do not count.
    pub fn set_baseline(&mut self, baseline: Baseline) {
        self.baseline = Some(baseline);
    }

    /// Whether every single finding of a file has to be known, not only the first ones of each rule.
    #[must_use]
    pub fn needs_each_finding(&self) -> bool {
        self.baseline.is_some() || self.suppressions.iter().any(Suppression::needs_each_finding)
    }

    /// What findings of a rule count, before suppressions. `severity` is that of a rule that is not known here: reports have
    /// the severities of the policy that they were written under.
    pub(crate) fn level(&self, rule: &str, severity: Severity, known: Option<&str>) -> Counts {
        let severity = catalogue::find(rule).map_or(severity, |rule| rule.severity.into());
        let of = |selects: &dyn Fn(&RulePattern) -> bool| {
            self.levels.iter().rev().find(|(pattern, _)| selects(pattern)).map(|(_, level)| *level)
        };
        let of_rule = of(&|pattern| pattern.selects_rule(rule));
        let of_defect = known.and_then(|known| of(&|pattern| pattern.selects_defect(known)));
        let by_rule = match of_rule {
            Some(Level::Allow) => return Counts::Not { reason: format!("{rule} is allowed") },
            Some(Level::Warn) => Severity::Warning,
            Some(Level::Deny) => Severity::Error,
            None => severity,
        };
        let Some(known) = known else { return Counts::As(by_rule) };
        match (of_defect, self.known) {
            (Some(Level::Allow), _) => Counts::Not { reason: format!("{known} is allowed") },
            (Some(Level::Warn), _) => Counts::As(Severity::Warning),
            (Some(Level::Deny), _) => Counts::As(Severity::Error),
            (None, Known::Allow) => Counts::Not { reason: format!("known: {known}") },
            (None, Known::Warn) if hides_functions(known) => Counts::As(by_rule),
            (None, Known::Warn) => Counts::As(by_rule.max(Severity::Warning)),
            (None, Known::Deny) => Counts::As(by_rule),
        }
    }
}

/// Whether a known defect hides functions from every reader.
fn hides_functions(known: &str) -> bool {
    sframe_defects::find(known).is_some_and(|defect| defect.hides_functions)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> RulePattern {
        text.parse().expect("a pattern")
    }

    #[test]
    fn known_defects_are_warnings_unless_denied() {
        let mut policy = Policy::default();
        let of = |policy: &Policy, known| policy.level("cfa-mismatch", Severity::Error, known);
        assert_eq!(of(&policy, None), Counts::As(Severity::Error));
        let hidden = policy.level("function-hidden", Severity::Error, Some("ld-function-hidden"));
        assert_eq!(hidden, Counts::As(Severity::Error));
        assert_eq!(of(&policy, Some("ld-plt-got")), Counts::As(Severity::Warning));
        policy.known(Known::Deny);
        assert_eq!(of(&policy, Some("ld-plt-got")), Counts::As(Severity::Error));
        policy.known(Known::Allow);
        assert_eq!(of(&policy, None), Counts::As(Severity::Error));
        assert!(matches!(of(&policy, Some("ld-plt-got")), Counts::Not { .. }));
        // A known defect by name wins over all of them.
        policy.deny(pattern("ld-plt-got"));
        assert_eq!(of(&policy, Some("ld-plt-got")), Counts::As(Severity::Error));
    }

    #[test]
    fn later_levels_win() {
        let mut policy = Policy::default();
        policy.deny(pattern("comparison"));
        policy.allow(pattern("cfa-*"));
        policy.warn(pattern("cfa-mismatch"));
        let of = |rule| policy.level(rule, Severity::Error, None);
        assert_eq!(of("cfa-mismatch"), Counts::As(Severity::Warning));
        assert!(matches!(of("cfa-alignment"), Counts::Not { .. }));
        assert_eq!(of("ra-mismatch"), Counts::As(Severity::Error));
        assert_eq!(of("bad-magic"), Counts::As(Severity::Error));
    }
}
