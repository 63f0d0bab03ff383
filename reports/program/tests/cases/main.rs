//! Sessions at a terminal, in Markdown files: the test runs their commands and compares the output. `CONTRIBUTING.md`
//! says how to add one; `SFRAME_BLESS=1 cargo test -p sframe-check --test cases` regenerates the output.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod fixtures;
#[path = "../packing/mod.rs"]
mod packing;
mod session;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Defines a test for each subject, which is a folder of cases, with underscores instead of hyphens.
macro_rules! subjects {
    ($($subject:ident)*) => {
        const SUBJECTS: &[&str] = &[$(stringify!($subject)),*];
        $(#[test] fn $subject() { run(stringify!($subject)); })*
    };
}

subjects! {
    check comparison conformance consumers diff dump exit_status explain first_screen forecast grouped hooks hostile_names hostile_packages images inputs link lookup make packages
    nights policy reassemble reduce repositories show size stores torture trace usage_errors walk
}

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

/// The entries of a folder, in order.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

fn run(subject: &str) {
    let folder = cases().join(subject.replace('_', "-"));
    let mut failures = Vec::new();
    for case in entries(&folder).into_iter().filter(|path| path.is_file()) {
        if let Err(failure) = session::replay(&case) {
            failures.push(format!("{}: {failure}", case.display()));
        }
    }
    let remedy = "if the new output is right, run the test with SFRAME_BLESS=1 to update the files";
    assert!(failures.is_empty(), "{}\n{remedy}", failures.join("\n"));
}

#[test]
fn every_folder_of_cases_has_a_test() {
    let is_subject = |path: &PathBuf| path.is_dir() && !path.ends_with("fixtures");
    let folders = entries(&cases()).into_iter().filter(is_subject);
    let name =
        |path: PathBuf| path.file_name().expect("a name").to_string_lossy().replace('-', "_");
    let found: BTreeSet<String> = folders.map(name).collect();
    let listed: BTreeSet<String> = SUBJECTS.iter().map(|&name| name.to_owned()).collect();
    assert_eq!(found, listed, "list the folder in `subjects!`");
}
