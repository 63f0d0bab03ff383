//! `sframe-check diff` as its users meet it. What the tables show is what objdump prints of the
//! files, in `FILE.objdump` beside each.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const OLD: &str = "2.44/x86_64/cfi.o";
const NEW: &str = "2.47.50/x86_64/cfi.o";

fn diff(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sframe-check"))
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/golden"))
        .arg("diff")
        .args(arguments)
        .output()
        .expect("the program runs")
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

#[test]
fn the_exit_status_says_whether_they_differ() {
    assert_eq!(diff(&[OLD, NEW]).status.code(), Some(1));
    assert_eq!(diff(&[NEW, NEW]).status.code(), Some(0));
    assert_eq!(diff(&["2.44/x86_64/calls.o", "llvm-23/x86_64/calls.o"]).status.code(), Some(0));
    // What version 2 cannot say is no difference.
    assert_eq!(
        diff(&["2.44/x86_64/outermost.o", "2.47.50/x86_64/outermost.o"]).status.code(),
        Some(0)
    );
    assert_eq!(diff(&[OLD]).status.code(), Some(3));
    // A stripped library by symbol: nobody can tell which function is which.
    let stripped = "2.47.50/x86_64/stripped.so";
    assert_eq!(diff(&["--by", "symbol", stripped, stripped]).status.code(), Some(2));
}

#[test]
fn what_cannot_be_compared_is_said_by_name() {
    for (path, why) in [
        ("no-such-file", "No such file or directory"),
        ("MANIFEST.tsv", "not an ELF file"),
        ("2.44/x86_64/archive.a", "an archive"),
        ("2.47.50/x86_64/bare.o", "no SFrame section"),
        ("2.44", "not a regular file"),
    ] {
        let output = diff(&[path, NEW]);
        assert_eq!(output.status.code(), Some(2), "{path}");
        let complaint = String::from_utf8(output.stderr).expect("UTF-8");
        assert!(complaint.starts_with(path) && complaint.contains(why), "{complaint}");
    }
}

#[test]
fn text_shows_both_tables_of_a_function() {
    let text = text(&diff(&[OLD, NEW]));
    for line in [
        "A: 2.44/x86_64/cfi.o: V2 AMD64, 8 functions",
        "B: 2.47.50/x86_64/cfi.o: V3 AMD64, 11 functions",
        "  0x6..0x7: cfa, fp differ (1 byte)",
        "matched by address: 8 functions in both, 0 only in A, 3 only in B",
    ] {
        assert!(text.lines().any(|printed| printed == line), "{line}\n{text}");
    }
    let row = |mark: &str, cells: [&str; 4]| {
        text.lines().any(|line| {
            let mut words = line.split_whitespace();
            let same = cells.iter().all(|cell| words.next() == Some(cell));
            let mut marked = line.split_whitespace();
            same && mark.is_empty()
                || marked.next() == Some(mark) && cells.iter().all(|c| marked.next() == Some(c))
        })
    };
    assert!(row("", ["0x1", "rsp+16", "*(CFA-8)", "*(CFA-16)"]), "{text}");
    assert!(row("-", ["0x6", "rbp+8", "*(CFA-8)", "unchanged"]), "{text}");
    assert!(row("+", ["0x6", "rbp+16", "*(CFA-8)", "*(CFA-16)"]), "{text}");
    assert!(row("+", ["0x35", "rsp+0", "r11", "unchanged"]), "{text}");
}

#[test]
fn functions_beyond_the_first_ones_are_counted() {
    let shown = |arguments: &[&str]| {
        let document: Value = serde_json::from_str(&text(&diff(arguments))).expect("JSON");
        let functions = document["functions"].as_array().expect("functions").len() as u64;
        (functions, document["more_functions"].as_u64().expect("a number"))
    };
    let pair = ["2.40/x86_64/static.exe", "2.47.50/x86_64/shared.so"];
    let (first, more) = shown(&["--format", "json", "--by", "pc", pair[0], pair[1]]);
    assert_eq!(first, 10);
    assert!(more > 0);
    assert_eq!(
        shown(&["--format", "json", "--by", "pc", "--all", pair[0], pair[1]]),
        (10 + more, 0)
    );
}

#[test]
fn json_is_valid_by_its_schema_and_says_the_same() {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema/diff.schema.json");
    let schema: Value =
        serde_json::from_str(&fs::read_to_string(schema).expect("readable")).expect("JSON");
    let schema = jsonschema::validator_for(&schema).expect("a schema");
    let document: Value =
        serde_json::from_str(&text(&diff(&["--format", "json", OLD, NEW]))).expect("JSON");
    let errors: Vec<String> = schema.iter_errors(&document).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    assert!(!schema.is_valid(&serde_json::json!({ "format": 1 })));
    assert_eq!(document["bytes"]["different"], 10);
    let first = &document["functions"][0];
    assert_eq!(first["name"], "remembers");
    assert_eq!(first["ranges"][1]["fields"], serde_json::json!(["cfa", "fp"]));
}
