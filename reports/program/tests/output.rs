//! Output that cannot be written, and control characters in input that must not reach the terminal.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Output, Stdio};

use sframe_corpus::program::command;
use sframe_corpus::{corpus, folder};

fn run(arguments: &[&str]) -> Output {
    command(&corpus(), arguments).output().expect("the program runs")
}

/// The exit status of the program if the reader of its output closes the pipe after one line, as `head -1` does.
fn after_one_line(arguments: &[&str]) -> Option<i32> {
    let mut child = command(&corpus(), arguments).stdout(Stdio::piped()).spawn().expect("it runs");
    let mut lines = BufReader::with_capacity(16, child.stdout.take().expect("piped"));
    lines.read_line(&mut String::new()).expect("it prints");
    drop(lines);
    child.wait().expect("it ends").code()
}

/// 141 is 128 + SIGPIPE, the status with which a shell reports `cat` in `cat | head`.
#[test]
fn a_closed_pipe_is_not_a_success() {
    let sound = "golden/2.47.50/x86_64";
    assert_eq!(after_one_line(&["--verbose", "--all", "--fail-on", "never", "golden"]), Some(141));
    assert_eq!(after_one_line(&["--format", "ndjson", sound, "golden"]), Some(141));
    assert_eq!(after_one_line(&["explain", "--all"]), Some(141));
}

/// `sframe-check --output json=FILE PATH | head -1`: the file is what it is without `head`.
#[test]
fn a_closed_pipe_does_not_end_other_outputs() {
    let folder = folder!("closed-pipe");
    let [whole, closed] = ["whole", "closed"].map(|name| folder.join(name));
    let arguments = |file: &Path| {
        let output = format!("json={}", file.display());
        ["--verbose", "--all", "--fail-on", "never", "golden", "--output", &output]
            .map(String::from)
    };
    let to_end = arguments(&whole);
    let to_end = run(&to_end.each_ref().map(String::as_str));
    let to_head = arguments(&closed);
    let status = after_one_line(&to_head.each_ref().map(String::as_str));
    assert_eq!(status, to_end.status.code());
    let read = |file| std::fs::read(file).expect("it is written");
    assert!(read(whole) == read(closed));
}

#[test]
fn a_closed_pipe_prints_no_message() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let dump = ["dump", "golden/2.47.50/x86_64/handwritten.so"];
    let output = command(&corpus(), &dump).stdout(writer).output().expect("the program runs");
    assert_eq!(output.status.code(), Some(141));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_full_device_is_reported() {
    for arguments in [&["--help"] as &[&str], &["-h"], &["--version"], &["explain"], &["golden"]] {
        let full = OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
        let output = command(&corpus(), arguments).stdout(full).output().expect("it runs");
        let stderr = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(output.status.code(), Some(3), "{arguments:?}");
        assert!(stderr.contains("No space left on device"), "{arguments:?}: {stderr}");
    }
}

/// Whether text has no character, other than newlines, that moves the cursor, ends a line, or changes the direction of
/// text (Unicode, ECMA-48).
fn is_harmless(text: &[u8]) -> bool {
    let text = std::str::from_utf8(text).expect("UTF-8");
    let bidi = ['\u{61c}', '\u{200e}', '\u{200f}'];
    text.chars().all(|c| {
        c == '\n'
            || !(c.is_control()
                || bidi.contains(&c)
                || ('\u{2028}'..='\u{202e}').contains(&c)
                || ('\u{2066}'..='\u{2069}').contains(&c))
    })
}

/// The names in these files contain control sequences and lines of a forged report.
#[test]
fn names_in_files_are_escaped() {
    let files = ["regressions/name-of-section-escapes.o", "regressions/name-of-symbol-escapes.so"];
    for file in files {
        for format in ["text", "json", "ndjson"] {
            let output = run(&["--pedantic", "--all", "--verbose", "--format", format, file]);
            assert!(is_harmless(&output.stdout), "{file} as {format}");
            assert!(is_harmless(&output.stderr), "{file} as {format}");
        }
        for command in [&["dump", file] as &[&str], &["dump", "--style", "gnu", file]] {
            let output = run(command);
            assert!(is_harmless(&output.stdout) && is_harmless(&output.stderr), "{command:?}");
        }
    }
}
