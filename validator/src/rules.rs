//! The catalogue of rules for a section and the file around it.
//!
//! A rule is one file, `rules/GROUP/RULE.rs`, which contains its page and its check. The group's module lists it with
//! the kind of its check. A rule knows no report format and no other rule. The driver, [`check`](crate::check), decides
//! which checks run, and when.

mod concatenation;
mod container;
mod content;
mod coverage;
pub(crate) mod entry;
mod functions;
mod header;
mod relocations;
mod rows;
mod tiling;

pub(crate) use content::CONFIRMED_ODDITY;
use entry::Entry;

pub use crate::page::{Abis, Group, Page, Rule, Severity, Versions};

/// The rules of each group, in the order in which they are listed.
const GROUPS: [&[Entry]; 8] = [
    container::RULES,
    relocations::RULES,
    header::RULES,
    tiling::RULES,
    functions::RULES,
    rows::RULES,
    content::RULES,
    coverage::RULES,
];

/// Every rule, group by group.
pub static CATALOGUE: &[&Rule] = &catalogue();

/// The rules with their checks, in the order of [`CATALOGUE`].
pub(crate) fn entries() -> impl Iterator<Item = &'static Entry> {
    GROUPS.into_iter().flatten()
}

const fn count() -> usize {
    let mut count = 0;
    let mut groups: &[&[Entry]] = &GROUPS;
    while let Some((group, rest)) = groups.split_first() {
        count += group.len();
        groups = rest;
    }
    count
}

#[expect(clippy::indexing_slicing, reason = "constant")]
const fn catalogue() -> [&'static Rule; count()] {
    let mut rules = [GROUPS[0][0].rule; count()];
    let mut position = 0;
    let mut groups: &[&[Entry]] = &GROUPS;
    while let Some((group, rest)) = groups.split_first() {
        let mut group = *group;
        while let Some((entry, others)) = group.split_first() {
            rules[position] = entry.rule;
            position += 1;
            group = others;
        }
        groups = rest;
    }
    rules
}

impl Rule {
    /// The rule with a name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Rule> {
        CATALOGUE.iter().copied().find(|rule| rule.name == name)
    }
}
