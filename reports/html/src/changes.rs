//! The report of a comparison of two scans.

mod overview;
mod rows;

use std::io::{self, Write};

use serde::Serialize;
use sframe_history::changes::Changes;

use crate::history::Point;
use crate::page::{Data, Page};
use crate::strings::Strings;
use overview::Overview;
use rows::{FileRow, FindingRow};

/// The views of a comparison: the fragment of the address, and the name.
const VIEWS: [(&str, &str); 3] =
    [("overview", "Overview"), ("files", "Files"), ("findings", "Findings")];

/// The maximum number of files and of findings on a page.
const MOST_FILES: usize = 50_000;
const MOST_FINDINGS: usize = 50_000;

/// The data of the page.
#[derive(Serialize)]
struct Comparison<'d> {
    kind: &'static str,
    strings: &'d [String],
    files: Vec<FileRow>,
    findings: Vec<FindingRow>,
    history: [Point; 2],
    left: LeftOut,
}

/// The changes that are not on the page.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct LeftOut {
    files: u64,
    findings: u64,
    texts: u64,
}

/// Writes the changes between two scans as one HTML file. It contains each change, up to limits, and says what it leaves
/// out.
///
/// ```
/// use sframe_history::changes::Scan;
/// use sframe_history::{Comparison, Record, When};
///
/// let old = r#"{"path":"libfoo.so.1.2","status":"checked"}"#;
/// let new = r#"{"path":"libfoo.so.1.3","status":"unreadable","reason":"truncated"}"#;
/// let mut comparison = Comparison::new(Scan::complete("monday"), Scan::complete("tuesday"));
/// comparison.add(When::Old, &Record::parse(old)?);
/// comparison.add(When::New, &Record::parse(new)?);
/// let mut page = Vec::new();
/// sframe_html::write_changes(&mut page, &comparison.finish())?;
/// assert!(String::from_utf8(page)?.contains("1 file can no longer be read"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns an error if writing fails.
pub fn write(out: &mut dyn Write, changes: &Changes) -> io::Result<()> {
    let mut strings = Strings::default();
    let mut findings = Vec::new();
    let mut left = LeftOut::default();
    let mut files = Vec::new();
    for change in changes.files.iter().take(MOST_FILES) {
        let first = findings.len();
        let room = MOST_FINDINGS.saturating_sub(first);
        let more = change.findings.len().saturating_sub(room) as u64;
        left.findings = left.findings.saturating_add(more);
        for finding in change.findings.iter().take(room) {
            findings.push(rows::finding(&mut strings, files.len(), finding));
        }
        files.push(rows::file(&mut strings, change, first, findings.len()));
    }
    left.files = left.files.saturating_add(changes.more_files);
    for change in changes.files.iter().skip(MOST_FILES) {
        left.files = left.files.saturating_add(1);
        left.findings = left.findings.saturating_add(change.findings.len() as u64);
    }
    left.texts = strings.cut;
    let data = Comparison {
        kind: "changes",
        strings: strings.all(),
        files,
        findings,
        history: Point::both(changes),
        left,
    };
    let overview = Overview::of(changes);
    let page = Page { name: "", title: "SFrame changes", views: &VIEWS, overview: &overview };
    page.write(out, &Data { data: &data, details: Vec::new() })
}
