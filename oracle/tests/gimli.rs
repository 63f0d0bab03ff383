//! Compares rows with those of gimli's `UnwindTable`, on every golden file, on the real libraries if they have been
//! built, and on as much of the system as requested.

#![allow(
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    reason = "a test program: it may panic"
)]

mod common;

use std::path::PathBuf;

use common::{Counts, compare, elf_files, golden_files};

/// Compares files, and lists every failure.
fn compare_all(files: &[PathBuf]) -> Counts {
    let mut counts = Counts::default();
    let mut failures = Vec::new();
    for path in files {
        let data = std::fs::read(path).expect("readable");
        match compare(&data) {
            Ok(more) => counts.add(more),
            Err(error) => failures.push(format!("{}: {error}", path.display())),
        }
    }
    println!("{counts:?}");
    let few: Vec<_> = failures.iter().take(40).collect();
    assert!(failures.is_empty(), "{} of {} files: {few:#?}", failures.len(), files.len());
    counts
}

#[test]
fn golden() {
    let counts = compare_all(&golden_files());
    assert!(counts.functions > 4_000, "{counts:?}");
    assert!(counts.simplified > 100, "{counts:?}");
}

#[test]
fn real_libraries() {
    let real = sframe_corpus::tools::real_libraries();
    let small = |path: &PathBuf| std::fs::metadata(path).is_ok_and(|m| m.len() < 10_000_000);
    let files: Vec<_> = elf_files(&real).into_iter().filter(small).collect();
    if files.is_empty() {
        sframe_corpus::tools::skipped::note("real libraries", "corpus/build real");
        return;
    }
    let counts = compare_all(&files);
    assert!(counts.rows > 100_000, "{counts:?}");
}

/// Compares the whole system, or the folders in SFRAME_SYSTEM (separated by colons). This takes minutes.
#[test]
#[ignore = "minutes: cargo test --release -p sframe-oracle --test gimli -- --ignored --nocapture"]
fn system() {
    let folders = std::env::var("SFRAME_SYSTEM").unwrap_or("/usr:/lib:/opt".to_owned());
    let files: Vec<_> = folders.split(':').flat_map(|f| elf_files(f.as_ref())).collect();
    compare_all(&files);
}
