//! Every rule there is: the validator's, and those of the comparison with CFI.

use sframe_validator::rules::Rule;

/// All rules, in the order in which they are listed.
pub fn all() -> impl Iterator<Item = &'static Rule> + Clone {
    let validator = sframe_validator::rules::CATALOGUE.iter();
    validator.chain(sframe_oracle::rules::CATALOGUE).copied()
}

/// The rule of a name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.name == name)
}

/// The place in the order of all of the rule that has this name; after all of them where no rule has
/// it.
#[must_use]
pub fn position(name: &str) -> usize {
    all().position(|rule| rule.name == name).unwrap_or(usize::MAX)
}

/// Rules that state a fact about the tools which made a whole build: every file of it breaks them in
/// the same way.
const ABOUT_TOOLS: [&str; 5] = [
    "obsolete-version",
    "pcrel-flag-clear",
    "section-type-early",
    "segment-missing",
    "sorted-object",
];

/// Whether a finding of the rule of this name is a fact about the tools which made a whole build, and not about
/// one of its files.
#[must_use]
pub fn is_about_tools(name: &str) -> bool {
    ABOUT_TOOLS.contains(&name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{ABOUT_TOOLS, all, find};

    #[test]
    fn a_name_is_one_rules() {
        let names: BTreeSet<&str> = all().map(|rule| rule.name).collect();
        assert_eq!(names.len(), all().count());
    }

    #[test]
    fn rules_about_tools_exist() {
        assert!(ABOUT_TOOLS.iter().all(|name| find(name).is_some()));
    }
}
