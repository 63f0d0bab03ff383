//! Matching of files and findings: small records whose expected matches are obvious.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use serde_json::{Value, json};
use sframe_history::changes::{Became, Changes, Matched, Scan};
use sframe_history::{Comparison, Record, When};

fn compare(old: &[Value], new: &[Value]) -> Changes {
    let mut comparison = Comparison::new(Scan::complete("old"), Scan::complete("new"));
    for (when, records) in [(When::Old, old), (When::New, new)] {
        for record in records {
            comparison.add(when, &Record::parse(&record.to_string()).expect("a record"));
        }
    }
    comparison.finish()
}

/// A file with one error in function `f`, so that two matched files do not differ.
fn file(path: &str) -> Value {
    with_findings(path, vec![finding("f", 0x1000, 1)])
}

fn with_findings(path: &str, findings: Vec<Value>) -> Value {
    let count = findings.len();
    let counts = json!([{"rule": "bad-info", "severity": "error", "count": count}]);
    let counts = if count == 0 { json!([]) } else { counts };
    json!({"path": path, "status": "checked", "counts": counts, "findings": findings})
}

/// A finding in a function; an empty `symbol` means none.
fn finding(symbol: &str, start: u64, index: u32) -> Value {
    let function = json!({"index": index, "start": format!("{start:#x}"), "size": 16});
    let mut finding = json!({
        "rule": "bad-info", "severity": "error", "message": format!("at {start:#x}"),
        "function": function, "field": {"name": "sfde_func_info", "value": "0x10"},
    });
    if !symbol.is_empty() {
        finding["function"]["symbol"] = json!(symbol);
    }
    finding
}

fn inside(path: &str, inside: &str) -> Value {
    let mut record = file(path);
    record["inside"] = json!(inside);
    record
}

fn in_package(name: &str, architecture: &str, path: &str, inside: &str) -> Value {
    let mut record = self::inside(path, inside);
    record["package"] = json!({"name": name, "version": "1", "architecture": architecture});
    record
}

/// How the only file of the old scan and that of the new one were matched.
fn matched(old: &Value, new: &Value) -> Option<Matched> {
    let mut new = new.clone();
    // Add something undecided, so that the file is listed.
    new["undecided"] = json!([{"reason": "x"}]);
    let changes = compare(std::slice::from_ref(old), &[new]);
    changes.files.first().and_then(|change| change.matched)
}

#[test]
fn names_match_without_versions_only() {
    let how = |old: &str, new: &str| matched(&file(old), &file(new));
    assert_eq!(how("lib/a.so", "lib/a.so"), Some(Matched::Name));
    assert_eq!(how("lib/a.so.1.2.3", "lib/a.so.1.2.4"), Some(Matched::Version));
    assert_eq!(how("lib/a.so.1", "lib/a.so.2"), Some(Matched::Version));
    assert_eq!(how("x/a-1.2/lib.so", "x/a-1.3/lib.so"), Some(Matched::Version));
    assert_eq!(how("monday/a.so", "tuesday/a.so"), Some(Matched::Root));
    assert_eq!(how("lib/aes-128.o", "lib/aes-256.o"), None);
    assert_eq!(how("lib/a.so", "lib/b.so"), None);

    let how = |old: (&str, &str), new: (&str, &str)| {
        matched(&inside(old.0, old.1), &inside(new.0, new.1))
    };
    let old = ("pool/foo_1.2-3_amd64.deb", "usr/lib/libfoo.so.1.2");
    let new = ("pool/foo_1.3-1_amd64.deb", "usr/lib/libfoo.so.1.3");
    assert_eq!(how(old, new), Some(Matched::Version));
    assert_eq!(how(old, ("pool/foo_1.3-1_arm64.deb", "usr/lib/libfoo.so.1.3")), None);
    assert_eq!(how(old, ("pool/bar_1.3-1_amd64.deb", "usr/lib/libfoo.so.1.3")), None);

    // If a package's name is known, its file may be anywhere, and its members may move.
    let old = in_package("foo", "amd64", "main/x.deb", "usr/lib/libfoo.so.1");
    let new = in_package("foo", "amd64", "updates/y.deb", "usr/lib/libfoo.so.1");
    assert_eq!(matched(&old, &new), Some(Matched::Version));
    let new = in_package("foo", "amd64", "updates/y.deb", "usr/lib/x86/libfoo.so.2");
    assert_eq!(matched(&old, &new), Some(Matched::Folder));
    let new = in_package("foo", "arm64", "updates/y.deb", "usr/lib/libfoo.so.1");
    assert_eq!(matched(&old, &new), None);

    // A file with the same bytes and another name.
    let content = |path: &str, hash: &str| {
        let mut record = file(path);
        record["content"] = json!({"size": 1, "hash": hash.repeat(64)});
        record
    };
    assert_eq!(matched(&content("lib/a", "0"), &content("lib/b", "0")), Some(Matched::Content));
    assert_eq!(matched(&content("lib/a", "0"), &content("lib/b", "1")), None);
}

#[test]
fn files_of_two_versions_are_matched_correctly() {
    let old = [file("l/a.so.1.2"), file("l/a.so.2.0")];
    let new = [file("l/a.so.2.1"), file("l/a.so.1.3")];
    let changes = compare(&old, &new);
    assert_eq!((changes.summary.matched, changes.summary.renamed), (2, 2));
    assert!(changes.is_empty(), "{changes:#?}");
    // If it is unknown which file is which, nothing is new or fixed.
    let old = [with_findings("l/a.so.1.2", vec![])];
    let new = [file("l/a.so.1.3"), with_findings("l/a.so.1.4", vec![])];
    let changes = compare(&old, &new);
    assert!(!changes.worse, "{changes:#?}");
    assert_eq!((changes.summary.matched, changes.summary.unmatched), (0, 3));
    let changes = compare(
        &[file("l/a.so.1.2")],
        &[
            with_findings("l/a.so.1.3", vec![finding("g", 0, 0)]),
            with_findings("l/a.so.1.4", vec![finding("h", 0, 0)]),
        ],
    );
    assert_eq!(changes.summary.unmatched, 3);
    assert_eq!((changes.summary.new.all(), changes.summary.fixed.all()), (0, 0));
    assert!(!changes.worse);
}

#[test]
fn contents_of_an_unreadable_package_are_not_gone() {
    let old = [
        inside("p/foo_1.2_amd64.deb", "usr/lib/a.so"),
        inside("p/bar_1.2_amd64.deb", "usr/lib/b.so"),
    ];
    let broken =
        json!({"path": "p/foo_1.3_amd64.deb", "status": "unreadable", "reason": "cut off"});
    let changes = compare(&old, std::slice::from_ref(&broken));
    let became: Vec<_> = changes.files.iter().map(|change| change.became).collect();
    assert_eq!(changes.summary.gone, 1, "{changes:#?}");
    assert_eq!(changes.summary.unmatched, 1);
    assert!(became.contains(&Some(Became::Gone)));
    // Likewise, the contents of a package that could not be read before are not new.
    let changes = compare(&[broken], &old);
    assert_eq!((changes.summary.came, changes.summary.unmatched), (1, 1));
    assert_eq!(changes.summary.new.errors, 1);
}

/// The numbers of new, fixed, changed and undecided findings in one file.
fn outcome(old: Vec<Value>, new: Vec<Value>) -> [u64; 4] {
    let changes = compare(&[with_findings("a", old)], &[with_findings("a", new)]);
    let summary = changes.summary;
    [summary.new.all(), summary.fixed.all(), summary.changed.all(), summary.undecided]
}

#[test]
fn functions_are_matched_by_symbol_at_any_address() {
    let f = finding("f", 0x1000, 1);
    assert_eq!(outcome(vec![f.clone()], vec![finding("f", 0x2000, 7)]), [0, 0, 0, 0]);
    assert_eq!(outcome(vec![f.clone()], vec![finding("g", 0x1000, 1)]), [1, 1, 0, 0]);
    // Static functions may share a name: two of three are still there.
    let three = |start| (0..3_u64).map(|n| finding("init", start + n * 16, 1)).collect::<Vec<_>>();
    assert_eq!(outcome(three(0), three(0x100)), [0, 0, 0, 0]);
    assert_eq!(outcome(three(0), three(0x100).split_off(1)), [0, 1, 0, 0]);
    // Another value of the field is a change.
    let mut other = finding("f", 0x1000, 1);
    other["field"]["value"] = json!("0x20");
    assert_eq!(outcome(vec![f], vec![other]), [0, 0, 1, 0]);
}

#[test]
fn findings_are_matched_by_defect_before_offset() {
    let at = |offset: u64, value: &str| {
        let mut finding = finding("f", 0x1000, 1);
        let (start, end) = (format!("{:#x}", 0x1000 + offset), format!("{:#x}", 0x1001 + offset));
        finding["code"] = json!({"start": start, "end": end});
        finding["field"]["value"] = json!(value);
        finding
    };
    let old = vec![at(4, "0x10"), at(8, "0x20")];
    assert_eq!(outcome(old.clone(), vec![at(5, "0x20"), at(9, "0x10")]), [0, 0, 0, 0]);
    assert_eq!(outcome(old, vec![at(5, "0x20")]), [0, 1, 0, 0]);
}

#[test]
fn truncated_lists_are_compared_by_count() {
    let listed = |names: &[&str], count: u64| {
        let findings = names.iter().map(|name| finding(name, 0, 0)).collect();
        let mut record = with_findings("a", findings);
        record["counts"][0]["count"] = json!(count);
        record
    };
    let found = |old: Value, new: Value| {
        let summary = compare(&[old], &[new]).summary;
        [summary.new.all(), summary.fixed.all(), summary.undecided]
    };
    let (fgh, ghi) = (["f", "g", "h"], ["g", "h", "i"]);
    assert_eq!(found(listed(&fgh, 12), listed(&ghi, 12)), [0, 0, 2]);
    assert_eq!(found(listed(&fgh, 3), listed(&ghi, 12)), [1, 0, 1]);
    assert_eq!(found(listed(&fgh, 12), listed(&ghi, 3)), [0, 1, 1]);
    assert_eq!(found(listed(&fgh, 3), listed(&ghi, 3)), [1, 1, 0]);
}

#[test]
fn numbered_copies_of_functions_match_if_nothing_else_does() {
    let copies = |names: &[&str]| names.iter().map(|name| finding(name, 0, 0)).collect::<Vec<_>>();
    assert_eq!(outcome(copies(&["f.part.0"]), copies(&["f.part.1"])), [0, 0, 0, 0]);
    assert_eq!(outcome(copies(&["f.isra.0.cold"]), copies(&["f.isra.3.cold"])), [0, 0, 0, 0]);
    // A different kind of copy is a different function, and exact matches come first.
    assert_eq!(outcome(copies(&["f.part.0"]), copies(&["f.isra.0"])), [1, 1, 0, 0]);
    let (one, two) = (copies(&["f.part.0"]), copies(&["f.part.0", "f.part.1"]));
    assert_eq!(outcome(one.clone(), two.clone()), [1, 0, 0, 0]);
    assert_eq!(outcome(two, one), [0, 1, 0, 0]);
}

#[test]
fn without_symbols_unknown_changes_are_undecided() {
    let stripped = |starts: &[u64]| {
        (0..).zip(starts).map(|(index, start)| finding("", *start, index)).collect::<Vec<_>>()
    };
    // Nothing has moved: the additional finding is new.
    assert_eq!(outcome(stripped(&[0, 16]), stripped(&[0, 16, 32])), [1, 0, 0, 0]);
    // All have moved, but their number is the same.
    assert_eq!(outcome(stripped(&[0, 16]), stripped(&[64, 96])), [0, 0, 0, 0]);
    // One finding is new, but it is unknown which one.
    assert_eq!(outcome(stripped(&[0, 16]), stripped(&[64, 96, 128])), [0, 0, 0, 1]);
    // The file was stripped between the scans.
    assert_eq!(outcome(vec![finding("f", 0, 0)], stripped(&[64])), [0, 0, 0, 2]);
}

#[test]
fn findings_that_a_scan_did_not_look_for_are_not_fixed() {
    let difference = |rule: &str| {
        let mut finding = finding("f", 0, 0);
        finding["rule"] = json!(rule);
        finding["group"] = json!("comparison");
        let mut record = with_findings("a", vec![finding]);
        record["counts"][0]["rule"] = json!(rule);
        record["coverage"] = json!({"functions": {"both": 1}});
        record
    };
    // `--against none` in one of the scans.
    let changes = compare(&[difference("cfa-mismatch")], &[with_findings("a", vec![])]);
    assert_eq!((changes.summary.fixed.all(), changes.summary.undecided), (0, 1));
    let changes = compare(&[with_findings("a", vec![])], &[difference("cfa-mismatch")]);
    assert_eq!((changes.summary.new.all(), changes.worse), (0, false));
    // `--pedantic` in one of the scans.
    let mut lint = file("a");
    lint["findings"][0]["severity"] = json!("lint");
    lint["counts"][0]["severity"] = json!("lint");
    let changes = compare(&[lint], &[with_findings("a", vec![])]);
    assert_eq!((changes.summary.fixed.all(), changes.summary.undecided), (0, 1));
    assert_eq!(changes.undecided.len(), 1);
    // The new scan could not check the whole file: the missing finding may still be there.
    let mut blind = with_findings("a", vec![]);
    blind["undecided"] = json!([{"reason": "functions and rows not checked"}]);
    let changes = compare(&[file("a")], std::slice::from_ref(&blind));
    assert_eq!((changes.summary.fixed.all(), changes.summary.undecided), (0, 1));
    // The findings that it does have count.
    blind["findings"] = file("a")["findings"].clone();
    blind["counts"] = file("a")["counts"].clone();
    assert_eq!(compare(&[with_findings("a", vec![])], &[blind]).summary.new.errors, 1);
}

/// A difference that represents `functions` functions.
fn pattern(symbol: &str, start: u64, sframe: &str, cfi: &str, functions: u64) -> Value {
    let pc = format!("{:#x}", start + 4);
    let line = |side: &str, cfa: &str| json!({"side": side, "start": pc, "cfa": cfa, "ra": "*(CFA-8)", "fp": "unchanged"});
    json!({
        "rule": "cfa-mismatch", "severity": "error", "group": "comparison", "message": "CFA",
        "function": {"index": 0, "start": format!("{start:#x}"), "size": 32, "symbol": symbol},
        "code": {"start": pc, "end": format!("{:#x}", start + 5)},
        "difference": {
            "fields": ["cfa"], "table": [line("sframe", sframe), line("cfi", cfi)],
            "instructions": [], "similar": {"functions": functions - 1},
        },
    })
}

fn with_patterns(findings: Vec<Value>, count: u64) -> Value {
    json!({
        "path": "a", "status": "checked", "coverage": {}, "findings": findings,
        "counts": [{"rule": "cfa-mismatch", "severity": "error", "count": count}],
    })
}

#[test]
fn a_pattern_is_one_finding_whichever_function_represents_it() {
    let of = |symbol: &str, functions| pattern(symbol, 0x40, "rsp+16", "rsp+8", functions);
    let other = |functions| pattern("g", 0x90, "rsp+240", "rsp+232", functions);
    let changes =
        compare(&[with_patterns(vec![of("f", 9)], 9)], &[with_patterns(vec![other(9)], 9)]);
    assert!(changes.is_empty(), "{changes:#?}");
    let changes =
        compare(&[with_patterns(vec![of("f", 9)], 9)], &[with_patterns(vec![other(12)], 12)]);
    assert_eq!((changes.summary.changed.errors, changes.worse), (1, true));
    // A pattern with one function identifies that function: another function is another finding.
    let changes =
        compare(&[with_patterns(vec![of("f", 1)], 1)], &[with_patterns(vec![other(1)], 1)]);
    assert_eq!((changes.summary.new.errors, changes.summary.fixed.errors), (1, 1));
    // A different pattern is a different finding, and counts for its functions.
    let apart = pattern("g", 0x90, "rbp+8", "rbp+16", 5);
    let changes = compare(
        &[with_patterns(vec![of("f", 9)], 9)],
        &[with_patterns(vec![of("f", 9), apart], 14)],
    );
    assert_eq!((changes.summary.new.errors, changes.summary.changed.all()), (5, 0));
    // One scan lists all functions of a pattern, the other only one.
    let all = vec![of("f", 1), of("g", 1), of("h", 1)];
    let changes = compare(&[with_patterns(vec![of("f", 3)], 3)], &[with_patterns(all, 3)]);
    assert!(changes.is_empty(), "{changes:#?}");
}

#[test]
fn changes_of_producers_are_listed_with_examples() {
    let by = |path: &str, assembler: &str| {
        let mut record = file(path);
        record["producers"] = json!([
            {"kind": "compiler", "name": "GCC", "version": "14.2.0"},
            {"kind": "assembler", "name": "GNU as", "version": assembler},
        ]);
        record
    };
    let of = |assembler: &str| ["a", "b", "c", "d"].map(|path| by(path, assembler));
    let changes = compare(&of("2.44"), &of("2.47.50"));
    let found = &changes.producers[0];
    assert_eq!((found.kind.as_str(), found.files), ("assembler", 4));
    assert_eq!((&*found.old[0], &*found.new[0]), ("GNU as 2.44", "GNU as 2.47.50"));
    assert_eq!(found.examples, ["a", "b", "c"]);
    assert_eq!(changes.producers.len(), 1, "the compiler is the same");
}

/// A violation that was a warning in the old scan is an error in the new one.
#[test]
fn the_severity_of_the_later_scan_applies() {
    let mut old = with_findings("a.o", vec![finding("f", 0x1000, 1)]);
    old["counts"][0]["severity"] = json!("warning");
    old["findings"][0]["severity"] = json!("warning");
    let new = with_findings("a.o", vec![finding("f", 0x1000, 1), finding("g", 0x2000, 2)]);
    let changes = compare(&[old], &[new]);
    assert_eq!((changes.summary.new.errors, changes.summary.new.warnings), (1, 0));
    assert!(changes.worse);

    // If a lint became an error, or the other way round, both scans looked for it.
    let mut lint = with_findings("a.o", vec![finding("f", 0x1000, 1)]);
    lint["counts"][0]["severity"] = json!("lint");
    lint["findings"][0]["severity"] = json!("lint");
    let error = with_findings("a.o", vec![finding("f", 0x1000, 1), finding("g", 0x2000, 2)]);
    let (lint, error) = ([lint], [error]);
    let (forward, backward) = (compare(&lint, &error), compare(&error, &lint));
    assert_eq!((forward.summary.new.all(), backward.summary.fixed.all()), (1, 1));
}
