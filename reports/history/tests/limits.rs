//! The limits of comparisons and root causes: everything beyond them is counted.

use serde_json::json;
use sframe_history::changes::Scan;
use sframe_history::{Comparison, Groups, Record, When};

fn record(path: &str, rule: &str) -> String {
    json!({
        "path": path,
        "status": "checked",
        "counts": [{ "rule": rule, "severity": "error", "count": 1, "files": 1 }],
    })
    .to_string()
}

/// Files beyond the limit may be those that are missing from the other scan: nothing is reported as gone.
#[test]
fn files_beyond_the_limit_are_undecided() {
    let (old, new) = (Scan::complete("old"), Scan::complete("new"));
    let mut comparison = Comparison::new(old, new).within(3);
    for number in 0..5 {
        let line = record(&number.to_string(), "r");
        comparison.add(When::Old, &Record::parse(&line).expect("a record"));
        if number > 2 {
            comparison.add(When::New, &Record::parse(&line).expect("a record"));
        }
    }
    let changes = comparison.finish();
    assert_eq!((changes.old.files, changes.old.files_left, changes.new.files_left), (3, 2, 0));
    assert!(!changes.is_decided() && !changes.old.complete, "{changes:#?}");
    assert_eq!((changes.summary.came, changes.summary.unmatched), (0, 2), "{changes:#?}");
    assert!(
        changes.undecided.iter().any(|why| why.contains("2 files beyond the first 3")),
        "{changes:#?}"
    );
}

/// 60,000 files with a rule each, all of them new: 50,000 are listed, and 10,000 rules.
#[test]
fn changes_beyond_the_limits_are_counted() {
    const FILES: u64 = 60_000;
    let mut comparison = Comparison::new(Scan::complete("old"), Scan::complete("new"));
    let mut groups = Groups::default();
    for number in 0..FILES {
        let line = record(&number.to_string(), &format!("r{number}"));
        let record = Record::parse(&line).expect("a record");
        groups.add(&record);
        comparison.add(When::New, &record);
    }
    let changes = comparison.finish();
    assert_eq!((changes.files.len(), changes.more_files), (50_000, 10_000));
    assert_eq!((changes.summary.came, changes.rules.len()), (FILES, 10_001));
    let others = changes.rules.iter().find(|rule| rule.rule == "other rules");
    assert_eq!(others.map(|rule| rule.new), Some(FILES - 10_000));
    let causes = groups.finish();
    assert_eq!((causes.findings, causes.causes.len()), (FILES, 40_001));
    assert_eq!(causes.causes.iter().map(|cause| cause.findings).sum::<u64>(), FILES);
}

/// The same findings under other symbols: none matches, and each is compared with what is known of all others at once. With
/// a search through all of them, this takes a minute without optimisation.
#[test]
fn many_renamed_functions_are_new_and_fixed() {
    const FUNCTIONS: u64 = 20_000;
    let file = |prefix: &str| {
        let finding = |number: u64| {
            json!({
                "rule": "r", "severity": "error", "message": format!("m {number}"),
                "function": { "index": number, "start": "0x0", "size": 16, "symbol": format!("{prefix}{number}") },
            })
        };
        let findings: Vec<_> = (0..FUNCTIONS).map(finding).collect();
        let counts = json!([{ "rule": "r", "severity": "error", "count": FUNCTIONS }]);
        json!({ "path": "a", "status": "checked", "counts": counts, "findings": findings })
            .to_string()
    };
    let mut comparison = Comparison::new(Scan::complete("old"), Scan::complete("new"));
    comparison.add(When::Old, &Record::parse(&file("a")).expect("a record"));
    comparison.add(When::New, &Record::parse(&file("b")).expect("a record"));
    let summary = comparison.finish().summary;
    assert_eq!((summary.new.all(), summary.fixed.all()), (FUNCTIONS, FUNCTIONS));
}
