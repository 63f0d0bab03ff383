//! Patterns that select rules and known defects.

use std::fmt;
use std::str::FromStr;

use sframe_input::pattern::{InvalidPattern, Pattern, PatternError, Wildcards};
use sframe_record::catalogue;

/// Selects rules by name, group or glob, or a known defect by its identifier.
#[derive(Clone, Debug)]
pub struct RulePattern {
    text: String,
    selects: Selects,
}

#[derive(Clone, Debug)]
enum Selects {
    Rule,
    Group,
    Rules(Box<Pattern>),
    Defect,
}

/// No rule, group or known defect has this name, and it is no pattern that matches a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSuchRule {
    pattern: String,
    /// Why it cannot be a pattern.
    error: Option<PatternError>,
}

impl fmt::Display for NoSuchRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.error {
            None | Some(PatternError::Invalid(_)) => write!(
                f,
                "\"{}\" is no rule, group or known defect, and no pattern that matches a rule: `explain` lists them",
                self.pattern
            ),
            Some(error) => InvalidPattern::new(&self.pattern, error.clone()).fmt(f),
        }
    }
}

impl std::error::Error for NoSuchRule {}

impl FromStr for RulePattern {
    type Err = NoSuchRule;

    fn from_str(text: &str) -> Result<RulePattern, NoSuchRule> {
        let selects = if catalogue::find(text).is_some() {
            Selects::Rule
        } else if catalogue::all().any(|rule| rule.group.name() == text) {
            Selects::Group
        } else if sframe_defects::find(text).is_some() {
            Selects::Defect
        } else {
            let none = |error| NoSuchRule { pattern: text.to_owned(), error };
            let pattern = Pattern::new(text, Wildcards::Any).map_err(|error| none(Some(error)))?;
            if !catalogue::all().any(|rule| pattern.is_match(rule.name)) {
                return Err(none(None));
            }
            Selects::Rules(Box::new(pattern))
        };
        Ok(RulePattern { text: text.to_owned(), selects })
    }
}

impl RulePattern {
    /// The pattern as it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it selects the rule.
    #[must_use]
    pub fn selects_rule(&self, rule: &str) -> bool {
        match &self.selects {
            Selects::Rule => self.text == rule,
            Selects::Group => {
                catalogue::find(rule).is_some_and(|rule| rule.group.name() == self.text)
            }
            Selects::Rules(pattern) => pattern.is_match(rule),
            Selects::Defect => false,
        }
    }

    /// Whether it selects the known defect.
    #[must_use]
    pub fn selects_defect(&self, defect: &str) -> bool {
        matches!(self.selects, Selects::Defect) && self.text == defect
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
