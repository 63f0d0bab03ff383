//! `--all` on a section with more findings than a record holds: each is listed once, and none is kept in memory.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use nix::sys::resource::{UsageWho, getrusage};
use serde_json::Value;
use sframe_corpus::tries;
use tempfile::NamedTempFile;

/// More findings than a record holds.
const FUNCTIONS: u32 = 4_000;
const FINDINGS: usize = 4 * FUNCTIONS as usize;

/// Enough functions that their findings, at 0.7 KiB each, would need 150 MiB of memory.
const MANY_FUNCTIONS: u32 = 40_000;
const MOST_KIB: i64 = 100 << 10;

/// A version 2 section for AMD64. Each function breaks four rules: its padding is not zero (`function-padding`),
/// two reserved bits of its info byte are set (`function-info-reserved`), its rows have a type that does not
/// exist (`fre-type`), and they start past the end of the section (`rows-offset-outside`).
fn section(functions: u32) -> Vec<u8> {
    let mut section = vec![0xe2, 0xde, 2, 0, 3, 0, 0xf8, 0];
    let length = 20 * functions;
    for number in [functions, functions, 4, 0, length] {
        section.extend(number.to_le_bytes());
    }
    for index in 0..functions {
        for number in [0x1000 + 16 * index, 16, 0x7fff_0000, 1] {
            section.extend(number.to_le_bytes());
        }
        // The info byte: FRE type 15, and both reserved bits (6 and 7) set.
        section.extend([0xcf, 0, 1, 0]);
    }
    section.extend([0; 4]);
    section
}

fn file(functions: u32) -> NamedTempFile {
    let mut file = NamedTempFile::new().expect("a file");
    file.write_all(&section(functions)).expect("writable");
    file
}

fn command(format: &str, path: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sframe-check"));
    command.args(["--all", "--raw", "--machine", "amd64", "--format", format]).arg(path);
    command
}

fn run(format: &str, path: &Path) -> String {
    let mut command = command(format, path);
    let output = command.stdin(Stdio::null()).output().expect("the program runs");
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The number of findings. Checks that no rule is listed twice for the same function.
fn listed(findings: &Value) -> usize {
    let findings = findings.as_array().expect("findings");
    let mut places: Vec<(&str, u64)> = findings
        .iter()
        .map(|finding| {
            let rule = finding["rule"].as_str().expect("a rule");
            (rule, finding["function"]["index"].as_u64().expect("an index"))
        })
        .collect();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), findings.len(), "each finding is listed once");
    findings.len()
}

/// A single test, because the system reports the peak memory of all child processes together, and includes
/// the memory that a child shares with its parent before it starts the program.
#[test]
fn all_findings_are_listed_without_being_kept_in_memory() {
    let many = file(MANY_FUNCTIONS);
    for &format in tries(&["text"][..], &["text", "ndjson"]) {
        let status = command(format, many.path()).stdout(Stdio::null()).status();
        assert_eq!(status.expect("the program runs").code(), Some(1));
    }
    let peak = getrusage(UsageWho::RUSAGE_CHILDREN).expect("resources").max_rss();
    assert!(peak < MOST_KIB, "peak {peak} KiB");

    let file = file(FUNCTIONS);
    let lines = run("ndjson", file.path());
    let record: Value = serde_json::from_str(lines.lines().next().expect("a line")).expect("JSON");
    assert_eq!(listed(&record["findings"]), FINDINGS);
    let counts = record["counts"].as_array().expect("counts");
    let counted: u64 = counts.iter().filter_map(|count| count["count"].as_u64()).sum();
    assert_eq!(counted, FINDINGS as u64);

    let document: Value = serde_json::from_str(&run("json", file.path())).expect("JSON");
    assert_eq!(document["files"][0], {
        let mut file = record;
        file.as_object_mut().expect("an object").remove("type");
        file
    });
    let text = run("text", file.path());
    let shown = text.lines().filter(|line| {
        let line = line.trim_start();
        line.starts_with("error[") || line.starts_with("warning[")
    });
    assert_eq!(shown.count(), FINDINGS);
}
