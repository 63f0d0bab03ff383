//! Scans of more than a few files are reported by root cause, each once.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn told(arguments: &[&str]) -> String {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let output = Command::new(env!("CARGO_BIN_EXE_sframe-check"))
        .current_dir(corpus)
        .args(arguments)
        .output()
        .expect("the program runs");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// `12 findings, 3 functions, 1 file` after the name of the rule.
fn findings(line: &str) -> Option<u64> {
    let (name, extent) = line.split_once("]: ")?;
    let is_cause = name.starts_with("error[") || name.starts_with("warning[");
    let number = extent.split(' ').next().filter(|_| is_cause)?;
    Some(number.replace(',', "").parse().expect("a number"))
}

/// The truth is the report for programs, which lists nothing by cause: every finding is in one cause.
#[test]
fn causes_add_up_to_all_findings() {
    let json = told(&["--format", "json", "golden"]);
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let text = told(&["golden"]);
    let listed: u64 = text.lines().filter_map(findings).sum();
    let (_, rest) = text.split_once(" more causes of ").expect("more causes");
    let rest: u64 = rest.split(' ').next().expect("a number").parse().expect("a number");
    let number = |name: &str| json["summary"][name].as_u64().expect("a number");
    assert_eq!(listed + rest, number("errors") + number("warnings"));
}

/// Two screens of 50 lines.
#[test]
fn the_first_command_fits_two_screens() {
    let text = told(&["golden"]);
    assert!(text.lines().count() <= 100, "{text}");
    assert!(text.contains("`sframe-check explain RULE`") && text.contains("--by-file"), "{text}");
}

#[test]
fn few_files_are_listed_one_by_one() {
    let files = ["plt.so", "plt-pie.exe", "plt-now.so", "shared.so"];
    let paths: Vec<String> =
        files.iter().map(|file| format!("golden/2.44/x86_64/{file}")).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let few = told(&paths[..3]);
    for path in &paths[..3] {
        assert!(few.lines().any(|line| line == *path), "{few}");
    }
    let more = told(&paths);
    assert!(!more.lines().any(|line| paths.contains(&line)), "{more}");
    // One mistake of the linker, in the same stub of four files.
    assert_eq!(more.lines().find_map(findings), Some(4));
    let by_file = told(&[&["--by-file"], &paths[..]].concat());
    for path in &paths {
        assert!(by_file.lines().any(|line| line == *path), "{by_file}");
    }
}

/// What could not be decided or read is reported as well, the same reason once.
#[test]
fn reasons_are_reported_once() {
    let text = told(&["golden"]);
    let reasons: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("the section's bytes are not in this file"))
        .collect();
    assert_eq!(reasons.len(), 1, "{text}");
}
