//! Outcomes of readers, counted by clause.

use std::collections::BTreeMap;

use crate::check::{Outcome, Verdict};

/// The outcomes of some vectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// The vectors that the reader passes.
    pub pass: usize,
    /// The vectors that it fails.
    pub fail: usize,
    /// The vectors that it does not support.
    pub unsupported: usize,
    /// The vectors that were not tested.
    pub untested: usize,
}

impl Count {
    fn add(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Pass => self.pass += 1,
            Verdict::Fail => self.fail += 1,
            Verdict::Unsupported => self.unsupported += 1,
            Verdict::Untested => self.untested += 1,
        }
    }

    /// The share of supported vectors that it passes: `12/15`, or a dash if it supports none.
    #[must_use]
    pub fn cell(&self) -> String {
        match self.pass + self.fail {
            0 => "-".to_owned(),
            supported if supported == self.pass => supported.to_string(),
            supported => format!("**{}/{supported}**", self.pass),
        }
    }
}

/// The scores of readers.
#[derive(Clone, Debug, Default)]
pub struct Score {
    readers: Vec<String>,
    /// By the folder of the clause, then by reader.
    counts: BTreeMap<String, Vec<Count>>,
}

/// The folder of a vector's clause.
fn folder(name: &str) -> String {
    name.rsplit_once('/').map_or(name, |(folder, _)| folder).to_owned()
}

impl Score {
    /// Adds a reader and its outcomes.
    pub fn add(&mut self, reader: &str, outcomes: &[Outcome]) {
        let index = self.readers.len();
        self.readers.push(reader.to_owned());
        for outcome in outcomes {
            let counts = self.counts.entry(folder(&outcome.name)).or_default();
            counts.resize(index + 1, Count::default());
            if let Some(count) = counts.get_mut(index) {
                count.add(outcome.verdict);
            }
        }
    }

    /// The counts of a reader by clause.
    pub fn of(&self, reader: &str) -> impl Iterator<Item = (&str, Count)> {
        let index = self.readers.iter().position(|name| name == reader);
        self.counts.iter().filter_map(move |(clause, counts)| {
            Some((clause.as_str(), counts.get(index?).copied().unwrap_or_default()))
        })
    }

    /// A table with a line for each clause and a column for each reader.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!("| Clause | {} |\n", self.readers.join(" | "));
        text.push_str(&format!("|---|{}\n", "---|".repeat(self.readers.len())));
        let mut totals = vec![Count::default(); self.readers.len()];
        for (clause, counts) in &self.counts {
            let mut counts = counts.clone();
            counts.resize(self.readers.len(), Count::default());
            for (total, count) in totals.iter_mut().zip(&counts) {
                total.pass += count.pass;
                total.fail += count.fail;
                total.unsupported += count.unsupported;
                total.untested += count.untested;
            }
            text.push_str(&line(&format!("`{clause}`"), &counts));
        }
        text.push_str(&line("all", &totals));
        text
    }
}

fn line(name: &str, counts: &[Count]) -> String {
    let cells: Vec<String> = counts.iter().map(Count::cell).collect();
    format!("| {name} | {} |\n", cells.join(" | "))
}
