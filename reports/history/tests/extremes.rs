//! The largest numbers that fields can hold, as in a malicious report. Sums saturate at the largest number; they
//! neither overflow, which would panic in tests, nor wrap. The expected sums follow from arithmetic.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use serde_json::{Value, json};
use sframe_history::changes::{self, Changes, Options, Scan};
use sframe_history::{Comparison, Groups, Record, When, groups};
use sframe_record::SymbolNames;

/// A record with every field that a reader knows.
fn record(path: &str) -> Value {
    let place = json!({"start": "0x10", "size": 1, "symbol": "main", "symbol_offset": 1});
    let row = |side: &str| json!({"side": side, "start": "0x10", "cfa": "rsp+8", "ra": "*(CFA-8)", "fp": "u", "ra_signed": false});
    let section = json!({"index": 1, "file_offset": 1, "size": 1, "header": {"version": 2, "flags": 1},
        "functions": 1, "rows": 1, "covered_bytes": 1});
    let difference = json!({"rule": "cfa-mismatch", "severity": "error", "section": 1, "offset": 1,
        "file_offset": 1, "row": 1,
        "code": {"start": "0x10", "end": "0xffffffffffffffff", "symbol_offset": 1},
        "function": {"index": 1, "start": "0x10", "size": 1, "symbol": "main", "symbol_offset": 1},
        "difference": {"fields": ["cfa"], "table": [row("sframe"), row("cfi")],
            "instructions": [{"address": "0x10", "offset": 1, "text": "push %rbp"}],
            "similar": {"functions": 1, "ranges": 1, "bytes": 1}}});
    json!({
        "path": path,
        "status": "checked",
        "content": {"size": 1, "hash": "00"},
        "code_bytes": 1,
        "covered_bytes": 1,
        "sections": [section, section],
        "counts": [
            {"rule": "cfa-mismatch", "severity": "error", "count": 1},
            {"rule": "bad-info", "severity": "warning", "count": 1},
            {"rule": "long", "severity": "lint", "count": 1},
            {"rule": "long", "severity": "lint", "count": 1},
        ],
        "findings": [
            difference,
            difference,
            {"rule": "bad-info", "severity": "warning",
                "field": {"name": "sfde_func_info", "value": "0x10"}},
        ],
        "coverage": {
            "bytes": {"equal": 1, "limited": 1, "different": 1, "only_cfi": 1, "only_sframe": 1,
                "neither": 1, "undecided": 1},
            "functions": {"both": 1, "partly": 1, "only_cfi": 1, "only_sframe": 1},
            "losses": [{"cause": "none", "functions": 1, "bytes": 1, "examples": [place]},
                {"cause": "other", "functions": 1, "bytes": 1, "examples": [place]}],
            "limits": [{"field": "signal", "functions": 1, "bytes": 1}],
        },
    })
}

/// The JSON pointers of all numbers in a value.
fn numbers(value: &Value, place: &str, found: &mut Vec<String>) {
    match value {
        Value::Number(_) => found.push(place.to_owned()),
        Value::Array(values) => {
            (0..).zip(values).for_each(|(index, value): (usize, _)| {
                numbers(value, &format!("{place}/{index}"), found);
            });
        }
        Value::Object(fields) => fields
            .iter()
            .for_each(|(name, value)| numbers(value, &format!("{place}/{name}"), found)),
        _ => {}
    }
}

fn parses(record: &Value) -> bool {
    Record::parse(&record.to_string()).is_ok()
}

/// A record with the largest numbers that can be read, and the number of 64-bit ones among them.
fn largest(path: &str) -> (Value, usize) {
    let mut record = record(path);
    assert!(parses(&record), "{:?}", Record::parse(&record.to_string()));
    let (mut places, mut wide) = (Vec::new(), 0);
    numbers(&record, "", &mut places);
    for place in &places {
        for number in [u64::MAX, u32::MAX.into(), u8::MAX.into()] {
            *record.pointer_mut(place).expect("found") = number.into();
            if parses(&record) {
                wide += usize::from(number == u64::MAX);
                break;
            }
        }
    }
    assert!(parses(&record));
    (record, wide)
}

fn compared(old: &[Value], new: &[Value]) -> Changes {
    let mut comparison = Comparison::new(Scan::complete("old"), Scan::complete("new"));
    for (when, records) in [(When::Old, old), (When::New, new)] {
        for record in records {
            comparison.add(when, &Record::parse(&record.to_string()).expect("a record"));
        }
    }
    let changes = comparison.finish();
    let all = Options { details: usize::MAX };
    changes::write_text(&mut Vec::new(), &changes, &all).expect("memory");
    changes::write_markdown(&mut Vec::new(), &changes, &all).expect("memory");
    changes::write_json(&mut Vec::new(), &changes).expect("memory");
    changes
}

/// The record with one number replaced.
fn with(record: &Value, place: &str, number: u64) -> Value {
    let mut record = record.clone();
    *record.pointer_mut(place).expect("a number") = number.into();
    record
}

#[test]
fn sums_of_the_largest_numbers_saturate() {
    let records: Vec<Value> = ["a", "b", "c"].map(|path| largest(path).0).into();
    let (_, wide) = largest("a");
    assert!(wide >= 30, "{wide} numbers of 64 bits");

    let mut groups = Groups::default();
    for record in &records {
        groups.add(&Record::parse(&record.to_string()).expect("a record"));
    }
    let causes = groups.finish();
    let options = groups::Options { causes: usize::MAX, names: SymbolNames::Demangled };
    groups::write_text(&mut Vec::new(), &causes, options).expect("memory");
    assert_eq!((causes.findings, causes.files), (u64::MAX, 3));
    let of_difference = causes.causes.iter().find(|cause| cause.rule == "cfa-mismatch");
    let of_difference = of_difference.expect("a cause");
    assert_eq!((of_difference.findings, of_difference.functions), (u64::MAX, u64::MAX));

    // The findings of all files are new, or all are gone.
    let none: Vec<Value> =
        ["a", "b", "c"].map(|path| json!({"path": path, "status": "checked"})).into();
    for (old, new) in [(&none, &records), (&records, &none)] {
        let changes = compared(old, new);
        let (came, other) = match old.len() == 3 && old[0].get("counts").is_none() {
            true => (changes.summary.new, changes.summary.fixed),
            false => (changes.summary.fixed, changes.summary.new),
        };
        // Listed findings: three warnings, and three errors that represent all others.
        assert_eq!([came.errors, came.warnings, came.lints], [u64::MAX, 3, 0]);
        assert_eq!((came.all(), other.all()), (u64::MAX, 0));
        // The findings that are only counted.
        assert_eq!(changes.rules.len(), 3);
        assert!(changes.rules.iter().all(|rule| rule.old.max(rule.new) == u64::MAX));
    }
    let changes = compared(&records, &records);
    assert!(changes.is_empty(), "{changes:#?}");
    for described in [changes.summary.described_old, changes.summary.described_new] {
        assert_eq!(
            [
                described.functions,
                described.undescribed,
                described.code_bytes,
                described.described_bytes
            ],
            [u64::MAX; 4]
        );
    }
}

/// Each number in turn is the smallest and the largest while the others are large, so that differences have both signs.
#[test]
fn no_number_makes_the_comparison_panic() {
    let (large, _) = largest("a");
    let (mut places, small) = (Vec::new(), record("a"));
    numbers(&small, "", &mut places);
    assert!(places.len() >= 35, "{places:?}");
    for base in [&large, &small] {
        for place in &places {
            for number in [0, 1, u8::MAX.into(), u32::MAX.into(), u64::MAX] {
                let changed = with(base, place, number);
                if parses(&changed) {
                    compared(&[base.clone(), large.clone()], &[changed.clone(), small.clone()]);
                    compared(&[changed, small.clone()], std::slice::from_ref(base));
                }
            }
        }
    }
}

/// Each finding has a different shape, and therefore its own cause, up to a limit. No finding is lost.
#[test]
fn the_number_of_causes_is_bounded() {
    let mut groups = Groups::default();
    for number in 0..20_010 {
        let name: String =
            format!("{number}").bytes().map(|digit| char::from(digit + 49)).collect();
        let line = format!(
            r#"{{"path":"a","status":"checked","counts":[{{"rule":"bad-info","severity":"error","count":1}}],
            "findings":[{{"rule":"bad-info","severity":"error","field":{{"name":"{name}","value":"1"}}}}]}}"#
        );
        groups.add(&Record::parse(&line).expect("a record"));
    }
    let causes = groups.finish();
    assert_eq!((causes.causes.len(), causes.findings), (20_001, 20_010));
    let rest = causes.causes.iter().find(|cause| cause.unlisted).expect("the rest");
    assert_eq!(rest.findings, 10);
}
