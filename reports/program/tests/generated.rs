//! Files generated from the program's definitions are up to date, and the program's output is valid under the
//! generated schemas. `SFRAME_BLESS=1 cargo test -p sframe-check` regenerates the files.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use sframe_render::explain;
use sframe_render::report::json::{document_schema, line_schema};

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Checks that a file has the generated text, and writes it first if `SFRAME_BLESS` is set.
fn is_current(path: &str, generated: &str) {
    let path = here(path);
    if std::env::var_os("SFRAME_BLESS").is_some() {
        fs::write(&path, generated).expect("the file can be written");
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == generated, "{} is out of date: SFRAME_BLESS=1 writes it", path.display());
}

fn pretty(schema: &schemars::Schema) -> String {
    let mut text = serde_json::to_string_pretty(schema).expect("a schema is JSON");
    text.push('\n');
    text
}

#[test]
fn the_list_of_rules_is_current() {
    let mut text = Vec::new();
    explain::markdown(&mut text).expect("writing to memory");
    is_current("../../docs/RULES.md", &String::from_utf8(text).expect("text"));
}

#[test]
fn the_schemas_are_current() {
    is_current("schema/report.schema.json", &pretty(&document_schema()));
    is_current("schema/report-line.schema.json", &pretty(&line_schema()));
    is_current("schema/diff.schema.json", &pretty(&sframe_render::diff::json::schema()));
    is_current("schema/explain.schema.json", &pretty(&explain::schema()));
    is_current("schema/lookup.schema.json", &pretty(&sframe_render::lookup::schema()));
    is_current("schema/walk.schema.json", &pretty(&sframe_render::walk::schema()));
    is_current("schema/trace.schema.json", &pretty(&sframe_render::trace::schema()));
    is_current("schema/size.schema.json", &pretty(&sframe_render::size::json::schema()));
    is_current("schema/link.schema.json", &pretty(&sframe_link::json::schema()));
    is_current("schema/conformance.schema.json", &pretty(&sframe_render::conformance::schema()));
    is_current("schema/torture.schema.json", &pretty(&sframe_harness::torture::json::schema()));
}

fn stored_schema(name: &str) -> jsonschema::Validator {
    let text = fs::read_to_string(here(name)).expect("readable");
    let schema: Value = serde_json::from_str(&text).expect("JSON");
    jsonschema::validator_for(&schema).expect("a schema")
}

/// The program's report on files with all kinds of findings, and on one that is not an ELF file.
fn printed(format: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_sframe-check"))
        .current_dir(here("../../corpus"))
        .args(["--format", format, "--pedantic", "malformed", "golden/2.47.50", "README.md"])
        .output()
        .expect("the program runs");
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn json_is_valid_under_its_schema() {
    let schema = stored_schema("schema/report.schema.json");
    let document: Value = serde_json::from_str(&printed("json")).expect("JSON");
    let errors: Vec<String> = schema.iter_errors(&document).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    let files = document["files"].as_array().expect("files");
    assert!(files.iter().any(|file| file["findings"].as_array().is_some_and(|f| !f.is_empty())));
    // Make sure that the schema does not accept everything.
    assert!(!schema.is_valid(&serde_json::json!({ "format": 1, "files": 7 })));
}

#[test]
fn each_line_of_ndjson_is_valid_under_its_schema() {
    let schema = stored_schema("schema/report-line.schema.json");
    let text = printed("ndjson");
    let lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(lines.iter().all(|line| schema.is_valid(line)));
    let (last, files) = lines.split_last().expect("lines");
    assert_eq!(last["type"], "summary");
    assert!(files.len() > 100 && files.iter().all(|file| file["type"] == "file"));
    assert!(!schema.is_valid(&serde_json::json!({ "type": "file" })));
}

#[test]
fn the_report_of_torture_is_valid_under_its_schema() {
    let schema = stored_schema("schema/torture.schema.json");
    let output = Command::new(env!("CARGO_BIN_EXE_sframe-check"))
        .args(["torture", "--format", "json", "--reader", "true", "--reader", "/no/such/reader"])
        .output()
        .expect("the program runs");
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let errors: Vec<String> = schema.iter_errors(&document).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    assert!(!schema.is_valid(&serde_json::json!({ "format": 1, "readers": [{}] })));
}

#[test]
fn ndjson_and_json_have_the_same_records() {
    let document: Value = serde_json::from_str(&printed("json")).expect("JSON");
    let text = printed("ndjson");
    let mut files: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    files.pop();
    for file in &mut files {
        file.as_object_mut().expect("an object").remove("type");
    }
    assert_eq!(document["files"].as_array(), Some(&files));
}

/// Checks the output of a command against a schema, which must refuse a document without content.
fn is_valid_under(schema: &str, arguments: &[&str]) {
    let schema = stored_schema(schema);
    let output = Command::new(env!("CARGO_BIN_EXE_sframe-check"))
        .current_dir(here("../../corpus/golden"))
        .args(arguments)
        .output()
        .expect("the program runs");
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let errors: Vec<String> = schema.iter_errors(&document).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    assert!(!schema.is_valid(&serde_json::json!({ "format": 1 })));
}

#[test]
fn the_report_of_diff_is_valid_under_its_schema() {
    let files = ["2.44/x86_64/cfi.o", "2.47.50/x86_64/cfi.o"];
    for from in ["sframe", "cfi", "code"] {
        let arguments = ["diff", "--format", "json", "--from", from, files[0], files[1]];
        is_valid_under("schema/diff.schema.json", &arguments);
    }
}

/// The pages in a document of `explain`, which is valid under its schema.
fn explained(arguments: &[&str]) -> Vec<Value> {
    let arguments = [&["explain", "--format", "json"], arguments].concat();
    is_valid_under("schema/explain.schema.json", &arguments);
    let output =
        Command::new(env!("CARGO_BIN_EXE_sframe-check")).args(&arguments).output().expect("runs");
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    document["pages"].as_array().expect("pages").clone()
}

#[test]
fn the_pages_of_explain_are_valid_under_their_schema() {
    let names: Vec<&str> = explain::subjects().map(|(name, _)| name).collect();
    let kinds = explained(&names).into_iter().map(|page| page["kind"].to_string());
    let kinds: std::collections::BTreeSet<String> = kinds.collect();
    assert_eq!(kinds.len(), 6, "{kinds:?}");
    // What lists for people have a line for, JSON has a page for.
    let named = |arguments: &[&str]| -> Vec<String> {
        let pages = explained(arguments);
        pages.iter().map(|page| page["name"].as_str().expect("a name").to_owned()).collect()
    };
    let rules: Vec<&str> = sframe_record::catalogue::all().map(|rule| rule.name).collect();
    assert_eq!(named(&[]), rules);
    assert_eq!(named(&["--all"]), rules);
    let defects: Vec<&str> = sframe_defects::all().map(|defect| defect.id).collect();
    assert_eq!(named(&["--list-known"]), defects);
    let of_lld = named(&["--list-known", "--producer", "LLD"]);
    assert!(!of_lld.is_empty() && of_lld.len() < defects.len(), "{of_lld:?}");
}

#[test]
fn the_answers_of_lookup_are_valid_under_their_schema() {
    let arguments = ["lookup", "--format", "json", "2.47.50/x86_64/alloca.o", ".text+0x4", "large"];
    is_valid_under("schema/lookup.schema.json", &arguments);
}

#[test]
fn the_sizes_of_sections_are_valid_under_their_schema() {
    let arguments = ["size", "--format", "json", "--what-if", "2.47.50/x86_64/plt.so"];
    is_valid_under("schema/size.schema.json", &arguments);
}

#[test]
fn the_audit_of_a_link_is_valid_under_its_schema() {
    let inputs = ["2.44/x86_64/leaf.o", "2.47.50/x86_64/calls.o"];
    let arguments = ["link", "--format", "json", "--linker", "ld-2.47", inputs[0], inputs[1]];
    is_valid_under("schema/link.schema.json", &arguments);
}

#[test]
fn the_results_of_conformance_are_valid_under_their_schema() {
    is_valid_under("schema/conformance.schema.json", &["conformance", "--format", "json"]);
}
