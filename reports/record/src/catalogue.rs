//! The catalogue of all rules: those of the validator and those of the comparison with CFI.

use std::collections::HashMap;
use std::sync::LazyLock;

use sframe_validator::rules::Rule;

/// All rules, in the order in which they are listed everywhere.
pub fn all() -> impl Iterator<Item = &'static Rule> + Clone {
    let validator = sframe_validator::rules::CATALOGUE.iter();
    validator.chain(sframe_oracle::rules::CATALOGUE).copied()
}

/// The rules by name, with their positions.
static BY_NAME: LazyLock<HashMap<&str, (usize, &Rule)>> =
    LazyLock::new(|| all().enumerate().map(|(place, rule)| (rule.name, (place, rule))).collect());

/// The rule with this name, if there is one.
#[must_use]
pub fn find(name: &str) -> Option<&'static Rule> {
    BY_NAME.get(name).map(|(_, rule)| *rule)
}

/// The position of the rule with this name in [`all`]; `usize::MAX` if there is none, so that unknown rules sort last.
#[must_use]
pub fn position(name: &str) -> usize {
    BY_NAME.get(name).map_or(usize::MAX, |(place, _)| *place)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::all;

    #[test]
    fn rule_names_are_unique() {
        let names: BTreeSet<&str> = all().map(|rule| rule.name).collect();
        assert_eq!(names.len(), all().count());
    }
}
