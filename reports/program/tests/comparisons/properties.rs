//! Properties that hold for any two scans, tested on scans of the whole corpus: a scan compared with itself has no
//! changes; a planted change is reported at its place, and as its opposite if the scans are swapped.

use std::sync::OnceLock;
use std::time::Duration;

use crate::scans::{compare, findings, scan};
use serde_json::{Value, json};
use sframe_corpus::corpus;
use sframe_corpus::time::processor_time;
use sframe_history::changes::{Changes, CoverageVerdict, RowScan};
use sframe_history::{Groups, report};

/// Records of valid and broken files, archives and objects, with errors and warnings of all kinds. The lists of
/// findings are complete if `all` is set.
fn records(all: bool) -> &'static [Value] {
    static RECORDS: [OnceLock<Vec<Value>>; 2] = [OnceLock::new(), OnceLock::new()];
    RECORDS[usize::from(all)].get_or_init(|| {
        let folders = ["golden/2.44", "golden/2.47.50", "golden/lld", "differences", "malformed"];
        let options: &[&str] = if all { &["--all", "--pedantic"] } else { &[] };
        let text = scan(&corpus(), &[&folders, options].concat());
        let lines = text.lines().map(|line| serde_json::from_str(line).expect("JSON"));
        lines.filter(|line: &Value| line["type"] == "file").collect()
    })
}

/// A complete report.
fn report_of(records: &[Value]) -> String {
    let lines: Vec<String> = records.iter().map(ToString::to_string).collect();
    format!("{}\n{}\n", lines.join("\n"), json!({"type": "summary", "format": 1}))
}

fn changes(old: &[Value], new: &[Value]) -> Changes {
    compare(&report_of(old), &report_of(new))
}

/// A generator of numbers from a seed (xorshift64, G. Marsaglia 2003).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(limit).unwrap()).unwrap()
    }

    fn shuffle(&mut self, records: &mut [Value]) {
        for place in (1..records.len()).rev() {
            records.swap(place, self.below(place + 1));
        }
    }
}

#[test]
fn a_scan_compared_with_itself_has_no_changes() {
    for all in [false, true] {
        let records = records(all);
        let found: usize = records.iter().map(|r| r["findings"].as_array().unwrap().len()).sum();
        assert!(records.len() > 600 && found > 300, "{} files, {found} findings", records.len());
        let changes = changes(records, records);
        assert!(changes.is_empty() && !changes.worse, "{changes:#?}");
        assert_eq!(changes.summary.matched, records.len() as u64);
    }
}

#[test]
fn the_order_of_records_makes_no_difference() {
    // Compare two versions, so that there are changes.
    let of = |version: &str| -> Vec<Value> {
        let with = format!("golden/{version}/");
        records(false)
            .iter()
            .filter(|r| r["path"].as_str().unwrap().starts_with(&with))
            .cloned()
            .collect()
    };
    let (mut old, mut new) = (of("2.44"), of("2.47.50"));
    let ordered = changes(&old, &new);
    assert!(ordered.summary.fixed.errors > 0 && ordered.summary.coverage_gained > 0);
    let grouped = groups(&old);
    let mut numbers = Numbers(0x5f12_a3e0);
    for _ in 0..5 {
        numbers.shuffle(&mut old);
        numbers.shuffle(&mut new);
        assert_eq!(changes(&old, &new), ordered);
        assert_eq!(groups(&old), grouped);
    }
}

fn groups(records: &[Value]) -> sframe_history::groups::RootCauses {
    let mut groups = Groups::default();
    report::read(report_of(records).as_bytes(), |record| groups.add(record)).expect("a report");
    groups.finish()
}

#[test]
fn moved_addresses_make_no_difference() {
    for all in [false, true] {
        let mut moved = records(all).to_vec();
        for record in &mut moved {
            shift(record, 0x10_0000);
        }
        assert_ne!(moved, records(all));
        let changes = changes(records(all), &moved);
        assert!(changes.is_empty(), "{changes:#?}");
        assert_eq!(groups(&moved).causes.len(), groups(records(all)).causes.len());
    }
}

/// Adds `by` to all addresses and offsets of a record.
fn shift(value: &mut Value, by: u64) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| shift(value, by)),
        Value::Object(fields) => {
            for (name, value) in fields {
                match (name.as_str(), &mut *value) {
                    ("start" | "end" | "address", Value::String(text)) => {
                        let address = u64::from_str_radix(&text[2..], 16).unwrap();
                        *text = format!("{:#x}", address.wrapping_add(by));
                    }
                    ("offset" | "file_offset", Value::Number(_)) => {
                        *value = json!(value.as_u64().unwrap() + by);
                    }
                    _ => shift(value, by),
                }
            }
        }
        _ => {}
    }
}

/// The positions (file, finding) of findings with a symbol whose rule is completely listed in its file.
fn listed_errors(records: &[Value]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (file, record) in records.iter().enumerate() {
        for (place, finding) in record["findings"].as_array().unwrap().iter().enumerate() {
            let rule = |other: &Value| other["rule"] == finding["rule"];
            let listed = record["findings"].as_array().unwrap().iter().filter(|f| rule(f)).count();
            let count = record["counts"].as_array().unwrap().iter().find(|c| rule(c)).unwrap();
            let whole = count["count"] == json!(listed);
            let symbol = finding["function"].get("symbol").is_some();
            if whole && symbol && finding["severity"] == "error" {
                found.push((file, place));
            }
        }
    }
    found
}

/// Removes a finding and decreases its rule's count.
fn without(record: &Value, place: usize) -> Value {
    let mut record = record.clone();
    let finding = record["findings"].as_array_mut().unwrap().remove(place);
    let counts = record["counts"].as_array_mut().unwrap();
    let count = counts.iter_mut().find(|count| count["rule"] == finding["rule"]).unwrap();
    count["count"] = json!(count["count"].as_u64().unwrap() - 1);
    counts.retain(|count| count["count"] != 0);
    record
}

#[test]
fn a_planted_finding_is_new_and_a_removed_one_is_fixed() {
    let sound = records(true);
    let errors = listed_errors(sound);
    assert!(errors.len() > 50, "{}", errors.len());
    for &(file, place) in errors.iter().step_by(7) {
        let mut old = sound.to_vec();
        old[file] = without(&sound[file], place);
        let finding = &sound[file]["findings"][place];
        let expected = |change: &str| {
            let (rule, symbol) = (&finding["rule"], &finding["function"]["symbol"]);
            vec![format!("{change} {} {}", rule.as_str().unwrap(), symbol.as_str().unwrap())]
        };
        let name = sound[file]["path"].as_str().unwrap();
        let forward = changes(&old, sound);
        assert_eq!(forward.files.len(), 1, "{forward:#?}");
        assert_eq!(findings(&forward, name), expected("new"));
        assert!(forward.worse && forward.files[0].counts.is_empty());
        let address = &finding["code"]["start"];
        let address = if address.is_null() { &finding["function"]["start"] } else { address };
        let new = forward.files[0].findings[0].new.as_ref().unwrap();
        assert_eq!(new.address.as_deref(), address.as_str());
        // The result is the same if all addresses have moved.
        let mut moved = sound.to_vec();
        moved.iter_mut().for_each(|record| shift(record, 0x40));
        assert_eq!(findings(&changes(&old, &moved), name), expected("new"));

        let backward = changes(sound, &old);
        assert_eq!(findings(&backward, name), expected("fixed"));
        assert!(!backward.worse);
        assert_eq!(
            (forward.summary.new, forward.summary.fixed),
            (backward.summary.fixed, backward.summary.new)
        );
    }
}

#[test]
fn a_different_row_of_a_table_is_a_change() {
    let sound = records(true);
    // If a function without rows marks an outermost frame, SFrame has no line in the table.
    let with_table = |(file, place): &&(usize, usize)| {
        let table = sound[*file]["findings"][*place]["difference"]["table"].as_array();
        table.is_some_and(|lines| lines.iter().any(|line| line["side"] == "sframe"))
    };
    let errors = listed_errors(sound);
    let differences: Vec<_> = errors.iter().filter(with_table).step_by(9).collect();
    assert!(differences.len() > 3);
    for &&(file, place) in &differences {
        let mut new = sound.to_vec();
        let finding = &mut new[file]["findings"][place];
        let table = finding["difference"]["table"].as_array_mut().unwrap();
        let line = table.iter_mut().find(|line| line["side"] == "sframe").unwrap();
        line["cfa"] = json!("rsp+4711");
        let symbol = finding["function"]["symbol"].as_str().unwrap();
        let expected = format!("changed {} {symbol}", finding["rule"].as_str().unwrap());
        let name = new[file]["path"].as_str().unwrap().to_owned();
        let changes = changes(sound, &new);
        assert_eq!(findings(&changes, &name), [expected]);
        assert_eq!(changes.files.len(), 1);
        assert!(!changes.worse);
        // The merged table contains the new values.
        let table = &changes.files[0].findings[0].table;
        let lines = |scan: RowScan| -> Vec<&str> {
            table
                .iter()
                .filter(|line| line.scan == scan)
                .map(|line| line.frame.cfa.as_str())
                .collect()
        };
        assert_eq!(lines(RowScan::New), ["rsp+4711"]);
        assert_eq!(lines(RowScan::Old).len(), 1);
    }
}

#[test]
fn a_growing_count_of_unlisted_findings_is_worse_and_undecided() {
    let sound = records(false);
    let cut = |record: &Value| {
        let counts = record["counts"].as_array().unwrap().iter();
        counts
            .into_iter()
            .position(|c| c["severity"] == "error" && c["count"].as_u64().unwrap() > 3)
    };
    let (file, count) =
        sound.iter().enumerate().find_map(|(file, r)| Some((file, cut(r)?))).expect("a cut list");
    let mut new = sound.to_vec();
    let was = sound[file]["counts"][count]["count"].as_u64().unwrap();
    new[file]["counts"][count]["count"] = json!(was + 3);
    let forward = changes(sound, &new);
    assert!(forward.worse);
    assert_eq!(forward.summary.new.all(), 0);
    let expected = &forward.files[0].counts[0];
    assert_eq!((expected.old, expected.new), (was, was + 3));
    let backward = changes(&new, sound);
    assert!(!backward.worse);
    assert_eq!((backward.files[0].counts[0].old, backward.files[0].counts[0].new), (was + 3, was));
    // A listed finding that is replaced by another one is neither new nor fixed.
    let rule = &sound[file]["counts"][count]["rule"];
    let mut new = sound.to_vec();
    let listed = new[file]["findings"].as_array_mut().unwrap();
    let finding = listed.iter_mut().find(|finding| finding["rule"] == *rule).unwrap();
    finding["message"] = json!("something else");
    finding["function"] = json!({"index": 4711, "size": 1, "symbol": "elsewhere"});
    let changes = changes(sound, &new);
    assert_eq!(changes.summary.new.all() + changes.summary.fixed.all(), 0, "{changes:#?}");
    assert!(!changes.worse);
}

#[test]
fn fewer_described_functions_are_lost_coverage() {
    let sound = records(false);
    let has_loss = |record: &Value| {
        record["status"] == "checked"
            && record["coverage"]["functions"]["both"].as_u64() > Some(2)
            && record["coverage"]["losses"].as_array().is_some_and(|losses| !losses.is_empty())
    };
    let file = sound.iter().position(has_loss).expect("a file with a loss");
    let mut new = sound.to_vec();
    let coverage = &mut new[file]["coverage"];
    let cause = coverage["losses"][0]["cause"].as_str().unwrap().to_owned();
    let was = coverage["losses"][0]["functions"].as_u64().unwrap();
    coverage["losses"][0]["functions"] = json!(was + 1);
    let forward = changes(sound, &new);
    assert_eq!(forward.files.len(), 1);
    let expected = forward.files[0].coverage.as_ref().unwrap();
    assert_eq!(expected.verdict, CoverageVerdict::MoreUndescribed);
    assert_eq!(
        (expected.causes[0].cause.as_str(), expected.causes[0].old, expected.causes[0].new),
        (&*cause, was, was + 1)
    );
    assert!(!forward.worse);
    let both = new[file]["coverage"]["functions"]["both"].as_u64().unwrap();
    new[file]["coverage"]["functions"]["both"] = json!(both - 1);
    let verdict = |changes: &Changes| changes.files[0].coverage.as_ref().unwrap().verdict;
    let forward = changes(sound, &new);
    assert!(forward.worse);
    assert_eq!(verdict(&forward), CoverageVerdict::Lost);
    let backward = changes(&new, sound);
    assert!(!backward.worse);
    assert_eq!(verdict(&backward), CoverageVerdict::Gained);
}

#[test]
fn a_copy_of_a_file_is_new_or_gone() {
    let sound = records(false);
    let file = sound.iter().position(|record| record["status"] == "checked").unwrap();
    let mut more = sound.to_vec();
    let mut copy = sound[file].clone();
    copy["path"] = json!("quite/another/place.o");
    more.push(copy);
    let forward = changes(sound, &more);
    assert_eq!((forward.summary.came, forward.summary.gone), (1, 0));
    let backward = changes(&more, sound);
    assert_eq!((backward.summary.came, backward.summary.gone), (0, 1));
    // An incomplete scan cannot show that a file is gone.
    let cut: Vec<String> = sound.iter().skip(1).map(ToString::to_string).collect();
    let unknown = compare(&report_of(sound), &cut.join("\n"));
    assert_eq!((unknown.summary.gone, unknown.summary.unmatched), (0, 1));
    assert_eq!(unknown.summary.fixed.all(), 0);
}

#[test]
fn each_finding_has_one_cause() {
    for all in [false, true] {
        let causes = groups(records(all));
        let counts = records(all).iter().flat_map(|record| record["counts"].as_array().unwrap());
        let counted: u64 = counts.map(|count| count["count"].as_u64().unwrap()).sum();
        assert_eq!(causes.findings, counted);
        assert_eq!(causes.causes.iter().map(|cause| cause.findings).sum::<u64>(), counted);
        // Up to 100 findings of a rule are listed, and no file has more.
        assert!(!causes.causes.iter().any(|cause| cause.unlisted));
        let order = causes.causes.windows(2).all(|pair| {
            let key =
                |c: &sframe_history::groups::RootCause| (c.severity, std::cmp::Reverse(c.findings));
            key(&pair[0]) <= key(&pair[1])
        });
        assert!(order);
    }
}

#[test]
fn malicious_records_are_compared_in_linear_time() {
    // Each loss has a different cause, and lists one of its two functions. All reasons differ.
    let many = |word: &str| {
        let losses: Vec<Value> = (0..60_000)
            .map(|n| {
                let name = format!("{word}{n}");
                let example = json!({"symbol": name, "start": "0x0", "end": "0x1"});
                json!({"cause": name, "functions": 2, "bytes": 2, "examples": [example]})
            })
            .collect();
        // Words of letters, because numbers in reasons are dropped.
        let letter = |n: u32| char::from_digit(n % 20 + 10, 36).unwrap();
        let reason =
            |n: u32| -> String { [1, 20, 400, 8000].map(|unit| letter(n / unit)).iter().collect() };
        let undecided: Vec<Value> = (0..60_000).map(|n| json!({"reason": reason(n)})).collect();
        let mut record =
            json!({"type": "file", "path": "a", "status": "checked", "undecided": undecided});
        record["coverage"] = json!({"functions": {"both": 1}, "losses": losses});
        record
    };
    let begun = processor_time();
    let changes = changes(&[many("old")], &[many("new")]);
    let coverage = changes.files[0].coverage.as_ref().unwrap();
    assert_eq!(coverage.causes.len(), 120_000);
    let took = processor_time() - begun;
    assert!(took < Duration::from_secs(60), "{took:?}");
}
