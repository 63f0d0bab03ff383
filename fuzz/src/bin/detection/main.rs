//! The detection experiment on files: `cargo run --release -p sframe-fuzz --bin detection -- [--readers] FILE...`
//!
//! Prints the share of flipped bits and of set bytes that are detected, by version and machine, and lists the fields
//! with undetected changes. With `--readers`, the readers of the fetched toolchains get the same changes.

mod tables;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::thread;

use sframe_fuzz::detection::{
    BATCH, ByteChange, ChangeKind, Noticed, OtherReader, Subject, experiment, other_readers,
};
use sframe_harness::limited::watch_if_asked;
use tables::{Table, Tables};

/// The number of files processed at the same time with other readers.
const THREADS: usize = 2;

/// Unnoticed changes of a field, and the first of them.
type Rest = BTreeMap<String, (u64, String)>;

/// The results of all files.
#[derive(Default)]
struct Found {
    tables: Tables,
    rest: Rest,
    skipped: u64,
}

/// The results of a file.
struct OfFile {
    subject: Subject,
    table: Table,
    rest: Vec<(String, String)>,
}

fn main() -> ExitCode {
    if let Some(status) = watch_if_asked() {
        return status;
    }
    let mut files: Vec<OsString> = std::env::args_os().skip(1).collect();
    let with_readers = files.first().is_some_and(|argument| argument == "--readers");
    let mut readers = Vec::new();
    if with_readers {
        files.remove(0);
        let own = std::env::current_exe().expect("a program has a path");
        readers = other_readers(&own);
        if readers.is_empty() {
            eprintln!("there are no other readers, `corpus/build fetch` unpacks some");
            return ExitCode::from(3);
        }
    }
    let found = Mutex::new(Found::default());
    let rest = Mutex::new(files.iter());
    let next = || rest.lock().expect("no panic").next();
    let work = || -> Result<(), String> {
        while let Some(path) = next() {
            let of_file = of_file(Path::new(path), &readers)?;
            found.lock().expect("no panic").add(of_file);
        }
        Ok(())
    };
    let threads = if with_readers { THREADS } else { 1 };
    let done: Result<(), String> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("no panic"))
    });
    if let Err(error) = done {
        eprintln!("{error}");
        return ExitCode::from(3);
    }
    found.into_inner().expect("no panic").print(&readers);
    ExitCode::SUCCESS
}

/// `None` if the file has nothing to change.
fn of_file(path: &Path, readers: &[OtherReader]) -> Result<Option<OfFile>, String> {
    let with_path = |error: std::io::Error| format!("{}: {error}", path.display());
    let file = std::fs::read(path).map_err(with_path)?;
    let mut table = Table::default();
    let mut changes: Vec<(usize, u8, ChangeKind, Noticed)> = Vec::new();
    let mut rest = Vec::new();
    let subject = experiment(&file, |change, noticed| {
        let (old, new) = change.values;
        table.count(change.kind, noticed);
        if noticed == Noticed::Nobody {
            let place =
                format!("{}+{:#x}: {old:#04x} to {new:#04x}", path.display(), change.offset);
            rest.push((change.field.to_owned(), place));
        }
        changes.push((change.offset, new, change.kind, noticed));
    });
    let Some(subject) = subject else { return Ok(None) };
    let in_file =
        |(at, new, ..): &(usize, u8, ChangeKind, Noticed)| (subject.offset + *at as u64, *new);
    let bytes: Vec<ByteChange> = changes.iter().map(in_file).collect();
    for reader in readers {
        let Some(reactions) = reader.reactions(&file, &bytes, BATCH).map_err(with_path)? else {
            continue;
        };
        for ((_, _, kind, noticed), reaction) in changes.iter().zip(reactions) {
            table.react(*kind, &reader.name, *noticed, reaction);
        }
    }
    table.files = 1;
    table.with_cfi = u64::from(subject.has_cfi);
    Ok(Some(OfFile { subject, table, rest }))
}

impl Found {
    fn add(&mut self, of_file: Option<OfFile>) {
        let Some(OfFile { subject, table, rest }) = of_file else {
            self.skipped += 1;
            return;
        };
        let name = format!("V{} {}", subject.version.number(), subject.abi);
        for name in [name, "all".to_owned()] {
            self.tables.entry(name).or_default().add(&table);
        }
        for (field, place) in rest {
            let of_field = self.rest.entry(field).or_insert_with(|| (0, place.clone()));
            of_field.0 += 1;
            // The choice does not depend on which thread finishes first.
            if place < of_field.1 {
                of_field.1 = place;
            }
        }
    }

    fn print(&self, readers: &[OtherReader]) {
        tables::print("bits flipped", &self.tables, ChangeKind::Flip);
        tables::print("bytes set to 0x00 and 0xff", &self.tables, ChangeKind::Set);
        for reader in readers {
            tables::print_reader(&reader.name, &self.tables);
        }
        let skipped = self.skipped;
        println!(
            "{skipped} files not linked, broken as they are, or without exactly one section\n"
        );
        println!("noticed by nobody, and visible:");
        for (field, (count, example)) in &self.rest {
            println!("{count:>8} {field}, as {example}");
        }
    }
}
