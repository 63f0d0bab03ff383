//! Names of rules on the command line. Shells complete them.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use sframe_policy::RulePattern;
use sframe_record::catalogue;
use sframe_validator::rules::{Group, Rule};

use sframe_render::explain;

/// The rules that a name, a group or a pattern selects.
#[derive(Clone, Debug)]
pub(in crate::cli) struct Rules(Vec<&'static Rule>);

impl Rules {
    /// All rules of several such names, each once.
    pub(in crate::cli) fn of(names: &[Rules]) -> Vec<&'static Rule> {
        let mut all: Vec<&'static Rule> = Vec::new();
        for rule in names.iter().flat_map(|names| &names.0) {
            if !all.contains(rule) {
                all.push(rule);
            }
        }
        all
    }

    fn named(name: &str) -> Result<Rules, String> {
        let Ok(pattern) = name.parse::<RulePattern>() else {
            let found = explain::find(name).map(|rule| Rules(vec![rule]));
            return found.map_err(|error| error.to_string());
        };
        let selected = catalogue::all().filter(|rule| pattern.selects_rule(rule.name));
        let selected: Vec<&'static Rule> = selected.collect();
        match selected.is_empty() {
            true => {
                Err(format!("`{name}` is a known defect, not a rule: `--allow {name}` takes it"))
            }
            false => Ok(Rules(selected)),
        }
    }
}

/// Parses the name of a rule or a group of rules, or a pattern of rules.
#[derive(Clone, Copy)]
pub(super) struct RuleName;

impl TypedValueParser for RuleName {
    type Value = Rules;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Rules, clap::Error> {
        Rules::named.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(rules_and_groups().map(PossibleValue::new)))
    }
}

/// Parses the name of a rule, a group of rules or a known defect, or a pattern of rules.
#[derive(Clone, Copy)]
pub(super) struct RulesName;

impl TypedValueParser for RulesName {
    type Value = RulePattern;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<RulePattern, clap::Error> {
        (|name: &str| name.parse::<RulePattern>()).parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let defects = sframe_defects::all().map(|defect| defect.id);
        Some(Box::new(rules_and_groups().chain(defects).map(PossibleValue::new)))
    }
}

fn rules_and_groups() -> impl Iterator<Item = &'static str> {
    let groups = Group::ALL.iter().map(|group| group.name());
    catalogue::all().map(|rule| rule.name).chain(groups)
}
