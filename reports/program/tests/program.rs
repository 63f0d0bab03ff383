//! What the program does with the whole corpus, and what the documents say of it. `cases` has the sessions of its users.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use sframe_validator::rules::{CATALOGUE, Severity};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus")
}

/// A sound file.
const SOUND: &str = "golden/2.47.50/x86_64/static.exe";

fn program(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sframe-check"))
        .current_dir(folder)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .expect("the program runs")
}

/// Runs in the corpus; the status and what was printed.
fn run(arguments: &[&str]) -> (i32, String) {
    told(&program(&corpus(), arguments))
}

fn told(output: &Output) -> (i32, String) {
    let text = String::from_utf8(output.stdout.clone()).expect("UTF-8");
    (output.status.code().expect("not killed"), text)
}

/// An empty folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the folder can be made");
    folder
}

#[test]
fn each_malformed_file_is_reported_under_its_name() {
    for rule in CATALOGUE {
        let name = ["sframe", "elf", "a"]
            .map(|extension| format!("malformed/{0}/{0}.{extension}", rule.name))
            .into_iter()
            .find(|name| corpus().join(name).exists())
            .expect("each rule has a file");
        let mut arguments = vec!["--pedantic", "--fail-on", "lint"];
        if name.ends_with(".sframe") {
            arguments.push("--raw");
        }
        arguments.push(&name);
        let (status, text) = run(&arguments);
        let title = format!("{}[{}]", rule.severity, rule.name);
        assert!(status == 1 && text.contains(&title), "{name}: {status} {text}");
        if rule.severity == Severity::Error {
            arguments.retain(|a| !["--fail-on", "lint", "--pedantic"].contains(a));
            assert_eq!(run(&arguments).0, 1, "{name}");
        }
    }
}

#[test]
fn results_are_in_input_order_on_any_number_of_threads() {
    let one = run(&["--threads", "1", "--format", "ndjson", "golden"]);
    let four = run(&["--threads", "4", "--format", "ndjson", "golden"]);
    assert!(one == four);
}

#[test]
fn a_file_that_is_cut_anywhere_is_reported() {
    let folder = folder("damaged");
    let sound = fs::read(corpus().join(SOUND)).expect("readable");
    for length in (0..sound.len()).step_by(97) {
        fs::write(folder.join("c.so"), &sound[..length]).expect("writable");
        let output = program(&folder, &["c.so"]);
        assert!(matches!(output.status.code(), Some(0..=2)), "{length}: {output:?}");
    }
}

#[test]
fn the_samples_in_the_documents_are_real() {
    for (document, arguments) in [
        ("README.md", "corpus/differences/register-in-place/2.47.50.o"),
        ("docs/reports.md", "--raw corpus/malformed/function-overlap/function-overlap.sframe"),
        ("docs/reports.md", "corpus/golden/2.40/x86_64/debug-only.so"),
        ("docs/comparison.md", "corpus/differences/register-in-place/2.47.50.o"),
        ("docs/comparison.md", "--coverage corpus/golden/2.44/x86_64/realign.o"),
        (
            "docs/comparison.md",
            "diff corpus/golden/2.44/x86_64/realign.o corpus/golden/2.47.50/x86_64/realign.o",
        ),
    ] {
        let written = fs::read_to_string(corpus().join("..").join(document)).expect("readable");
        assert!(
            written.contains(&format!("sframe-check {arguments}\n")),
            "{document}: {arguments}"
        );
        let words: Vec<&str> = arguments.split(' ').collect();
        let (_, text) = told(&program(&corpus().join(".."), &words));
        assert!(written.contains(text.trim_end()), "{document} lacks:\n{text}");
    }
}

#[test]
fn explain_knows_every_rule() {
    for rule in CATALOGUE {
        let (status, text) = run(&["explain", rule.name]);
        assert_eq!(status, 0);
        assert!(text.starts_with(rule.name) && text.contains("What to do"), "{text}");
    }
    let (_, list) = run(&["explain"]);
    assert!(CATALOGUE.iter().all(|rule| list.contains(rule.name)));
}

#[test]
fn a_closed_pipe_needs_no_message() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let output = Command::new(env!("CARGO_BIN_EXE_sframe-check"))
        .current_dir(corpus())
        .args(["dump", "golden/2.47.50/x86_64/handwritten.so"])
        .stdout(writer)
        .output()
        .expect("the program runs");
    assert_eq!(output.status.code(), Some(141));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}
