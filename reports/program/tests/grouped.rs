//! Scans of more than a few files are reported by root cause, each once.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use serde_json::Value;
use sframe_corpus::corpus;
use sframe_corpus::program::run;

fn told(arguments: &[&str]) -> String {
    run(&corpus(), arguments).text
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
