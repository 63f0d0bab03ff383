//! The share of a package's code that has entries: hand-computed percentages.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use serde_json::{Value, json};
use sframe_history::changes::{Changes, Scan};
use sframe_history::{Comparison, Record, When};

/// A file of the package `foo` in which `described` of 100,000 bytes of code have entries.
fn checked(inside: &str, described: u64) -> Value {
    let mut record = without_coverage(inside);
    record["coverage"] = json!({
        "functions": {"both": 10}, "bytes": {"equal": described, "only_cfi": 100_000 - described},
    });
    record
}

/// A checked file whose section was not compared with CFI.
fn without_coverage(inside: &str) -> Value {
    json!({"path": "x.deb", "inside": inside, "package": {"name": "foo"}, "status": "checked",
        "code_bytes": 100_000})
}

fn no_section(inside: &str) -> Value {
    let mut record = without_coverage(inside);
    record["status"] = json!("no-section");
    record
}

fn compare(old: &[Value], new: &[Value], new_is_complete: bool) -> Changes {
    let new_scan = Scan { complete: new_is_complete, ..Scan::complete("new") };
    let mut comparison = Comparison::new(Scan::complete("old"), new_scan);
    for (when, records) in [(When::Old, old), (When::New, new)] {
        for record in records {
            comparison.add(when, &Record::parse(&record.to_string()).expect("a record"));
        }
    }
    comparison.finish()
}

/// Whether the share of the only package fell. Nothing else in these scans can be worse.
fn fell(old: &[Value], new: &[Value]) -> bool {
    let changes = compare(old, new, true);
    let listed = changes.packages.iter().any(|package| package.share_fell);
    assert_eq!(changes.worse, listed);
    listed
}

#[test]
fn a_smaller_share_is_worse() {
    let whole = || checked("a.so", 100_000);
    assert!(fell(&[whole()], &[checked("a.so", 99_900)]), "by 0.1 %, which a report shows");
    assert!(!fell(&[whole()], &[checked("a.so", 99_901)]), "by less");
    assert!(!fell(&[checked("a.so", 99_900)], &[whole()]), "the share rose");
    // A new library without a section, in a package that had one everywhere: 50 % instead of 100 %.
    assert!(fell(&[whole()], &[whole(), no_section("b.so")]));
    // The file with the smaller share is gone: 100 % instead of 75 %.
    assert!(!fell(&[whole(), checked("b.so", 50_000)], &[whole()]));
    // The file with the larger share is gone: 50 % instead of 75 %.
    assert!(fell(&[whole(), checked("b.so", 50_000)], &[checked("b.so", 50_000)]));
    assert!(!fell(&[no_section("a.so")], &[no_section("a.so"), no_section("b.so")]), "none before");
}

#[test]
fn an_unknown_share_does_not_fall() {
    let whole = || checked("a.so", 100_000);
    let mut undecided = checked("a.so", 90_000);
    undecided["coverage"]["bytes"] = json!({"equal": 90_000, "undecided": 10_000});
    assert!(!fell(&[whole()], &[undecided]));
    assert!(!fell(&[whole()], &[without_coverage("a.so")]));
    let old = [whole(), checked("b.so", 50_000)];
    let incomplete = compare(&old, &[checked("b.so", 50_000)], false);
    assert!(!incomplete.packages.iter().any(|package| package.share_fell));
}

#[test]
fn every_format_names_the_package() {
    let changes = compare(&[checked("a.so", 100_000)], &[checked("a.so", 80_000)], true);
    let mut text = Vec::new();
    sframe_history::changes::write_text(&mut text, &changes, &Default::default()).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("worse: 1 package with a smaller share of code with entries"), "{text}");
    assert!(text.contains("foo: 80.0 % of its code has entries, before 100.0 %"), "{text}");
    let mut json = Vec::new();
    sframe_history::changes::write_json(&mut json, &changes).unwrap();
    let json: Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["packages"][0]["share_fell"], json!(true));
    assert_eq!(json["packages"][0]["shares"][1]["described_bytes"], json!(80_000));
}
