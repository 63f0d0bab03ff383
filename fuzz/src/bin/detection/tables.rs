//! Counts changes, and prints the counts.

use std::collections::BTreeMap;

use sframe_fuzz::detection::{ChangeKind, Noticed, Reaction};

/// Tables by version and machine, and `all`.
pub(crate) type Tables = BTreeMap<String, Table>;

/// The results of the files of a kind.
#[derive(Default)]
pub(crate) struct Table {
    pub(crate) files: u64,
    pub(crate) with_cfi: u64,
    changes: BTreeMap<ChangeKind, Counts>,
}

/// The results of changes of a kind.
#[derive(Default)]
struct Counts {
    /// The number of changes by what detected them.
    noticed: BTreeMap<Noticed, u64>,
    /// The results by other reader.
    readers: BTreeMap<String, OfReader>,
}

/// The results of changes of the files that a reader can read.
#[derive(Default)]
struct OfReader {
    /// The numbers by the reader's reaction.
    reactions: BTreeMap<Reaction, u64>,
    /// The number that the check or the comparison notices.
    ours: u64,
    /// The number that only the reader notices, by any reaction.
    alone: u64,
}

impl Table {
    pub(crate) fn count(&mut self, kind: ChangeKind, noticed: Noticed) {
        *self.changes.entry(kind).or_default().noticed.entry(noticed).or_default() += 1;
    }

    pub(crate) fn react(
        &mut self,
        kind: ChangeKind,
        reader: &str,
        noticed: Noticed,
        reaction: Reaction,
    ) {
        self.changes.entry(kind).or_default().react(reader, noticed, reaction);
    }

    pub(crate) fn add(&mut self, other: &Table) {
        self.files += other.files;
        self.with_cfi += other.with_cfi;
        for (kind, counts) in &other.changes {
            self.changes.entry(*kind).or_default().add(counts);
        }
    }
}

impl Counts {
    fn react(&mut self, reader: &str, noticed: Noticed, reaction: Reaction) {
        if !self.readers.contains_key(reader) {
            self.readers.insert(reader.to_owned(), OfReader::default());
        }
        let Some(counts) = self.readers.get_mut(reader) else { return };
        *counts.reactions.entry(reaction).or_default() += 1;
        let ours = noticed < Noticed::Invisible;
        counts.ours += u64::from(ours);
        counts.alone += u64::from(!ours && reaction < Reaction::Silence);
    }

    fn add(&mut self, other: &Counts) {
        for (noticed, count) in &other.noticed {
            *self.noticed.entry(*noticed).or_default() += count;
        }
        for (reader, counts) in &other.readers {
            let sums = self.readers.entry(reader.clone()).or_default();
            for (reaction, count) in &counts.reactions {
                *sums.reactions.entry(*reaction).or_default() += count;
            }
            sums.ours += counts.ours;
            sums.alone += counts.alone;
        }
    }
}

/// Prints the shares of changes of a kind, by what detected them.
pub(crate) fn print(title: &str, tables: &Tables, kind: ChangeKind) {
    print!("{title:<27}{:>6}{:>6}{:>10}", "files", "CFI", "changes");
    Noticed::ALL.iter().for_each(|noticed| print!("{:>10}", noticed.name()));
    println!();
    for (name, table) in tables {
        let sum = |noticed: &Noticed| {
            let counts = table.changes.get(&kind)?;
            counts.noticed.get(noticed).copied()
        };
        let total: u64 = Noticed::ALL.iter().filter_map(sum).sum();
        print!("{name:<27}{:>6}{:>6}{total:>10}", table.files, table.with_cfi);
        for noticed in Noticed::ALL {
            let count = sum(&noticed).unwrap_or(0);
            print!("{:>9.3}%", percent(count, total));
        }
        println!();
    }
    println!();
}

/// Prints the reactions of another reader next to the share of the same changes that this project detects.
pub(crate) fn print_reader(reader: &str, tables: &Tables) {
    let columns = ["changes", "notices", "crashes", "hangs", "we notice", "it alone"];
    print!("{reader:<27}{:>6}", "");
    columns.iter().for_each(|column| print!("{column:>11}"));
    println!();
    for (name, table) in tables {
        for (unit, kind) in [("bits", ChangeKind::Flip), ("bytes", ChangeKind::Set)] {
            let counts = table.changes.get(&kind).and_then(|counts| counts.readers.get(reader));
            let Some(counts) = counts else { continue };
            let total: u64 = counts.reactions.values().sum();
            print!("{name:<27}{unit:>6}{total:>11}");
            for reaction in [Reaction::Notice, Reaction::Crash, Reaction::Hang] {
                let count = counts.reactions.get(&reaction).copied().unwrap_or(0);
                print!("{:>10.3}%", percent(count, total));
            }
            println!("{:>10.3}%{:>11}", percent(counts.ours, total), counts.alone);
        }
    }
    println!();
}

fn percent(count: u64, total: u64) -> f64 {
    100.0 * count as f64 / total.max(1) as f64
}
