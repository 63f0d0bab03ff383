//! Runs scans with the program itself, and compares them.

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use sframe_history::changes::{Change, Changes, FindingChange, Scan};
use sframe_history::{Comparison, When, report};

pub(crate) fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus")
}

/// An empty folder for a test.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("writable");
    folder
}

/// The program, built from the sources beside this package.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let cargo =
            Command::new(env!("CARGO")).args(["build", "--quiet", "-p", "sframe-check"]).status();
        assert!(cargo.expect("cargo runs").success(), "the program does not build");
        // Test programs are in `deps`, next to the program.
        let own = std::env::current_exe().expect("a path");
        let folder = own.ancestors().nth(2).expect("two folders");
        folder.join("sframe-check")
    })
}

/// Runs the program in a folder and returns its NDJSON.
pub(crate) fn scan(folder: &Path, arguments: &[&str]) -> String {
    scan_as("ndjson", folder, arguments)
}

/// Runs the program in a folder and returns its output in a format.
pub(crate) fn scan_as(format: &str, folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(program())
        .current_dir(folder)
        .args(["--format", format])
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .expect("the program runs");
    assert_ne!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The changes between two reports.
pub(crate) fn compare(old: &str, new: &str) -> Changes {
    let mut comparison = Comparison::new(Scan::complete("old"), Scan::complete("new"));
    for (when, text) in [(When::Old, old), (When::New, new)] {
        let ending = report::read(text.as_bytes(), |record| comparison.add(when, record));
        let ending = ending.expect("a report");
        let scan = comparison.scan_mut(when);
        (scan.tool, scan.complete) = (ending.tool, ending.complete);
    }
    comparison.finish()
}

/// The findings that changed in a file, as `CHANGE RULE SYMBOL`.
pub(crate) fn findings(changes: &Changes, file: &str) -> Vec<String> {
    let files = changes.files.iter().filter(|change| change.name().is_some_and(|n| n.path == file));
    files.flat_map(|change| &change.findings).map(phrase).collect()
}

fn phrase(finding: &FindingChange) -> String {
    let change = match finding.change {
        Change::New => "new",
        Change::Changed => "changed",
        Change::Fixed => "fixed",
    };
    let symbol = finding.place().and_then(|place| place.symbol.as_deref());
    format!("{change} {} {}", finding.rule, symbol.unwrap_or("-"))
}
