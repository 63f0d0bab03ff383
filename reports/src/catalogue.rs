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

/// The rule's place in the order of all.
#[must_use]
pub fn position(rule: &Rule) -> usize {
    all().position(|known| known == rule).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::all;

    #[test]
    fn a_name_is_one_rules() {
        let names: BTreeSet<&str> = all().map(|rule| rule.name).collect();
        assert_eq!(names.len(), all().count());
    }
}
