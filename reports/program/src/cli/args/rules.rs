//! Names of rules on the command line. Shells complete them.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use sframe_policy::RulePattern;
use sframe_record::catalogue;
use sframe_validator::rules::{Group, Rule};

use sframe_render::explain;

/// Parses the name of a rule.
#[derive(Clone, Copy)]
pub(super) struct RuleName;

impl TypedValueParser for RuleName {
    type Value = &'static Rule;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<&'static Rule, clap::Error> {
        (|name: &str| explain::find(name)).parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(catalogue::all().map(|rule| PossibleValue::new(rule.name))))
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
        let rules = catalogue::all().map(|rule| rule.name);
        let groups = Group::ALL.iter().map(|group| group.name());
        let defects = sframe_defects::all().map(|defect| defect.id);
        Some(Box::new(rules.chain(groups).chain(defects).map(PossibleValue::new)))
    }
}
