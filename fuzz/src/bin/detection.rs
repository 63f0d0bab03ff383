//! The detection experiment on files: `cargo run --release -p sframe-fuzz --bin detection -- FILE...`
//!
//! Prints, for bits that were flipped and for bytes that were set, the share that each judge
//! notices, by version and machine, and lists the fields whose changes nobody notices.

use std::collections::BTreeMap;
use std::process::ExitCode;

use sframe_fuzz::detection::{Noticed, experiment};

/// Changes by who noticed them.
type Sums = BTreeMap<Noticed, u64>;

#[derive(Default)]
struct Table {
    files: u64,
    with_cfi: u64,
    flipped: Sums,
    set: Sums,
}

/// Unnoticed changes of a field, and the first of them.
type Rest = BTreeMap<String, (u64, String)>;

fn main() -> ExitCode {
    let mut tables: BTreeMap<String, Table> = BTreeMap::new();
    let mut rest = Rest::new();
    let mut skipped = 0;
    for path in std::env::args_os().skip(1) {
        let file = match std::fs::read(&path) {
            Ok(file) => file,
            Err(error) => {
                eprintln!("{}: {error}", path.display());
                return ExitCode::from(3);
            }
        };
        let mut table = Table::default();
        let subject = experiment(&file, |change, noticed| {
            let sums = if change.flipped { &mut table.flipped } else { &mut table.set };
            *sums.entry(noticed).or_default() += 1;
            if noticed == Noticed::Nobody {
                let (old, new) = change.values;
                let place =
                    format!("{}+{:#x}: {old:#04x} to {new:#04x}", path.display(), change.offset);
                rest.entry(change.field.to_owned()).or_insert((0, place)).0 += 1;
            }
        });
        let Some(subject) = subject else {
            skipped += 1;
            continue;
        };
        let name = format!("V{} {}", subject.version.number(), subject.abi);
        for name in [name, "all".to_owned()] {
            tables.entry(name).or_default().add(&table, subject.has_cfi);
        }
    }
    print("bits flipped", &tables, |table| &table.flipped);
    print("bytes set to 0x00 and 0xff", &tables, |table| &table.set);
    println!("{skipped} files not linked, broken as they are, or without exactly one section\n");
    println!("noticed by nobody, and visible:");
    for (field, (count, example)) in &rest {
        println!("{count:>8} {field}, as {example}");
    }
    ExitCode::SUCCESS
}

impl Table {
    fn add(&mut self, other: &Table, has_cfi: bool) {
        self.files += 1;
        self.with_cfi += u64::from(has_cfi);
        for (sums, more) in [(&mut self.flipped, &other.flipped), (&mut self.set, &other.set)] {
            for (noticed, count) in more {
                *sums.entry(*noticed).or_default() += count;
            }
        }
    }
}

fn print(title: &str, tables: &BTreeMap<String, Table>, sums: impl Fn(&Table) -> &Sums) {
    print!("{title:<27}{:>6}{:>6}{:>10}", "files", "CFI", "changes");
    Noticed::ALL.iter().for_each(|noticed| print!("{:>10}", noticed.name()));
    println!();
    for (name, table) in tables {
        let sums = sums(table);
        let total: u64 = sums.values().sum();
        print!("{name:<27}{:>6}{:>6}{total:>10}", table.files, table.with_cfi);
        for noticed in Noticed::ALL {
            let count = sums.get(&noticed).copied().unwrap_or(0);
            print!("{:>9.3}%", 100.0 * count as f64 / total.max(1) as f64);
        }
        println!();
    }
    println!();
}
