//! Scans made by the program itself, and their comparison.

use std::path::{Path, PathBuf};

use sframe_corpus::program::run;
use sframe_history::changes::{Change, Changes, FindingChange, Scan};
use sframe_history::{Comparison, When, report};

/// An empty folder for a test.
pub(crate) fn folder(name: &str) -> PathBuf {
    sframe_corpus::folder!(name)
}

/// Runs the program in a folder, and returns its report as NDJSON.
pub(crate) fn scan(folder: &Path, arguments: &[&str]) -> String {
    scan_as("ndjson", folder, arguments)
}

/// Runs the program in a folder, and returns its report in a format.
pub(crate) fn scan_as(format: &str, folder: &Path, arguments: &[&str]) -> String {
    let outcome = run(folder, &[&["--known", "deny", "--format", format], arguments].concat());
    assert_ne!(outcome.status, 3, "{}", outcome.stderr);
    outcome.text
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
    files.flat_map(|change| &change.findings).map(described).collect()
}

fn described(finding: &FindingChange) -> String {
    let change = match finding.change {
        Change::New => "new",
        Change::Changed => "changed",
        Change::Fixed => "fixed",
    };
    let symbol = finding.place().and_then(|place| place.symbol.as_deref());
    format!("{change} {} {}", finding.rule, symbol.unwrap_or("-"))
}
