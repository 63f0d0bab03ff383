//! Counts of files without a record.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::field::{Defect, Object};

/// The maximum number of kinds: there are few, so a store with more is damaged.
pub(crate) const MAX_KINDS: usize = 100;

/// The number of files without a record, by kind: `not-elf`, `special` and other kinds that the scanner names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Counts(BTreeMap<String, u64>);

impl Counts {
    /// Adds `number` files of a kind.
    pub fn add(&mut self, kind: &str, number: u64) {
        if number == 0 {
            return;
        }
        match self.0.get_mut(kind) {
            Some(count) => *count = count.saturating_add(number),
            None => drop(self.0.insert(kind.to_owned(), number)),
        }
    }

    /// Adds all counts of `other`.
    pub fn add_all(&mut self, other: &Counts) {
        other.iter().for_each(|(kind, number)| self.add(kind, number));
    }

    /// The number of files of a kind.
    #[must_use]
    pub fn get(&self, kind: &str) -> u64 {
        self.0.get(kind).copied().unwrap_or(0)
    }

    /// The kinds with a count, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().map(|(kind, number)| (kind.as_str(), *number))
    }

    /// The number of kinds with a count.
    #[must_use]
    pub fn kinds(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The counts in the field `name` of an object; empty if the field is missing.
    pub(crate) fn read(object: &Object, name: &'static str) -> Result<Counts, Defect> {
        let mut counts = Counts::default();
        let Some(fields) = object.optional_object(name)? else { return Ok(counts) };
        if fields.len() > MAX_KINDS {
            let allowed = format!("at most {MAX_KINDS} kinds");
            return Err(object.defect(name, format!("{} kinds", fields.len()), allowed));
        }
        for (kind, number) in fields {
            let Some(number) = number.as_u64().filter(|&number| number > 0) else {
                return Err(object.defect(name, number.to_string(), "numbers from 1"));
            };
            counts.add(kind, number);
        }
        Ok(counts)
    }
}
