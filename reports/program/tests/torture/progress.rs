//! The progress display of `torture`, on a terminal made by `script`.

use std::process::{Command, Stdio};

use crate::script;
use sframe_corpus::tools;

/// The standard error of `torture` on a terminal, with a reader that takes a moment for each case. `None` without
/// terminals.
fn shown(name: &str, more: &str) -> Option<String> {
    if !tools::are_terminals_made() {
        return None;
    }
    let reader = script(name, "sleep 0.02");
    let program = env!("CARGO_BIN_EXE_sframe-check");
    let command =
        format!("exec {program} torture --threads 1 {more} --reader '{reader}' >/dev/null");
    let output = Command::new("script")
        .args(["-qec", &command, "/dev/null"])
        .env("TERM", "xterm")
        .stdin(Stdio::null())
        .output();
    Some(String::from_utf8_lossy(&output.expect("script runs").stdout).into_owned())
}

#[test]
fn a_terminal_shows_the_progress() {
    let Some(text) = shown("reader-with-progress", "") else { return };
    let cases = crate::cases(&crate::report(&["--reader", "true"]).1).len();
    assert!(text.contains(&format!(" of {cases}, ")), "{text}");
    // The name is cut in the middle.
    assert!(text.contains(" left sh /") && text.contains("-progress/reader "), "{text}");
}

#[test]
fn quiet_shows_nothing() {
    let Some(text) = shown("reader-without-progress", "--quiet") else { return };
    assert!(!text.contains(" of "), "{text}");
}
