//! Patterns that select rules and known defects.

use std::fmt;
use std::str::FromStr;

use globset::{Glob, GlobMatcher};
use sframe_record::catalogue;

/// Selects rules by name, group or glob, or a known defect by its identifier.
#[derive(Clone, Debug)]
pub struct RulePattern {
    selects: Selects,
}

#[derive(Clone, Debug)]
enum Selects {
    Rule(String),
    Group(String),
    Rules(Box<GlobMatcher>),
    Defect(String),
}

/// No rule, group or known defect has this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSuchRule {
    pattern: String,
}

impl fmt::Display for NoSuchRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "\"{}\" is no rule, group or known defect, and no pattern that matches a rule: `explain` lists them",
            self.pattern
        )
    }
}

impl std::error::Error for NoSuchRule {}

impl FromStr for RulePattern {
    type Err = NoSuchRule;

    fn from_str(text: &str) -> Result<RulePattern, NoSuchRule> {
        let selects = if catalogue::find(text).is_some() {
            Selects::Rule(text.to_owned())
        } else if catalogue::all().any(|rule| rule.group.name() == text) {
            Selects::Group(text.to_owned())
        } else if sframe_defects::find(text).is_some() {
            Selects::Defect(text.to_owned())
        } else {
            let glob = Glob::new(text).ok().map(|glob| glob.compile_matcher());
            let some = |glob: &GlobMatcher| catalogue::all().any(|rule| glob.is_match(rule.name));
            let none = || NoSuchRule { pattern: text.to_owned() };
            Selects::Rules(Box::new(glob.filter(some).ok_or_else(none)?))
        };
        Ok(RulePattern { selects })
    }
}

impl RulePattern {
    /// Whether it selects the rule.
    #[must_use]
    pub fn selects_rule(&self, rule: &str) -> bool {
        match &self.selects {
            Selects::Rule(name) => name == rule,
            Selects::Group(group) => {
                catalogue::find(rule).is_some_and(|rule| rule.group.name() == group)
            }
            Selects::Rules(glob) => glob.is_match(rule),
            Selects::Defect(_) => false,
        }
    }

    /// Whether it selects the known defect.
    #[must_use]
    pub fn selects_defect(&self, defect: &str) -> bool {
        matches!(&self.selects, Selects::Defect(id) if id == defect)
    }
}

#[cfg(test)]
mod tests {
    use super::RulePattern;

    #[test]
    fn rules_are_selected_by_name_group_and_glob() {
        let selects = |pattern: &str, rule: &str| {
            pattern.parse::<RulePattern>().expect("a pattern").selects_rule(rule)
        };
        assert!(selects("fp-lost", "fp-lost"));
        assert!(!selects("fp-lost", "fp-mismatch"));
        assert!(selects("segment-*", "segment-missing"));
        assert!(!selects("segment-*", "section-empty"));
        assert!(selects("comparison", "cfa-mismatch"));
        assert!(!selects("comparison", "bad-magic"));
        let defect: RulePattern = "ld-plt-got".parse().expect("a defect");
        assert!(defect.selects_defect("ld-plt-got") && !defect.selects_rule("cfa-mismatch"));
    }

    #[test]
    fn patterns_that_select_nothing_are_refused() {
        for text in ["", "no-such-rule", "nothing-*", "[", "cfa-mismatch "] {
            assert!(text.parse::<RulePattern>().is_err(), "{text}");
        }
    }
}
