//! Scans of more than a few files are reported by root cause, each cause once.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use serde_json::Value;
use sframe_corpus::corpus;
use sframe_corpus::program::run;

fn output(arguments: &[&str]) -> String {
    run(&corpus(), arguments).text
}

/// The number of findings in a line such as `error[rule]: 12 findings, 3 functions, 1 file`.
fn findings(line: &str) -> Option<u64> {
    let (name, extent) = line.split_once("]: ")?;
    let is_cause = name.starts_with("error[") || name.starts_with("warning[");
    let number = extent.split(' ').next().filter(|_| is_cause)?;
    Some(number.replace(',', "").parse().expect("a number"))
}

/// The expected number of findings is from the JSON report, which is not grouped by cause.
#[test]
fn causes_add_up_to_all_findings() {
    let json = output(&["--known", "deny", "--format", "json", "golden"]);
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let text = output(&["--known", "deny", "golden"]);
    let listed: u64 = text.lines().filter_map(findings).sum();
    let (_, rest) = text.split_once(" more causes of ").expect("more causes");
    let rest: u64 = rest.split(' ').next().expect("a number").parse().expect("a number");
    let number = |name: &str| json["summary"][name].as_u64().expect("a number");
    assert_eq!(listed + rest, number("errors") + number("warnings"));
}

/// A screen has 50 lines.
#[test]
fn the_first_command_fits_two_screens() {
    let text = output(&["golden"]);
    assert!(text.lines().count() <= 100, "{text}");
    assert!(text.contains("`sframe-check explain NAME`") && text.contains("--by-file"), "{text}");
}
