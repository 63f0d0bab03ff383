//! The program on the whole corpus, and the samples in the documents. `cases` has tests of single sessions.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::fs;

use sframe_corpus::program::run;
use sframe_corpus::{corpus, folder, read, repository};
use sframe_validator::rules::{CATALOGUE, Severity};

/// A file without findings.
const SOUND: &str = "golden/2.47.50/x86_64/static.exe";

#[test]
fn each_malformed_file_is_reported_with_its_rule() {
    for rule in CATALOGUE {
        let name = ["sframe", "elf", "a"]
            .map(|extension| format!("malformed/{0}/{0}.{extension}", rule.name))
            .into_iter()
            .find(|name| corpus().join(name).exists())
            .expect("each rule has a file");
        let mut arguments = vec!["--known", "deny", "--pedantic", "--fail-on", "lint"];
        if name.ends_with(".sframe") {
            arguments.push("--raw");
        }
        arguments.push(&name);
        let outcome = run(&corpus(), &arguments);
        let title = format!("{}[{}]", rule.severity, rule.name);
        assert!(outcome.status == 1 && outcome.text.contains(&title), "{name}: {outcome:?}");
        if rule.severity == Severity::Error {
            arguments.retain(|a| !["--fail-on", "lint", "--pedantic"].contains(a));
            assert_eq!(run(&corpus(), &arguments).status, 1, "{name}");
        }
    }
}

#[test]
fn results_are_in_input_order_on_any_number_of_threads() {
    let one = run(&corpus(), &["--threads", "1", "--format", "ndjson", "golden"]);
    let four = run(&corpus(), &["--threads", "4", "--format", "ndjson", "golden"]);
    assert!(one == four);
}

#[test]
fn a_file_truncated_anywhere_is_reported() {
    let folder = folder!("damaged");
    let sound = read(SOUND);
    for length in (0..sound.len()).step_by(97) {
        fs::write(folder.join("c.so"), &sound[..length]).expect("writable");
        let outcome = run(&folder, &["c.so"]);
        assert!(matches!(outcome.status, 0..=2), "{length}: {outcome:?}");
    }
}

#[test]
fn the_samples_in_the_documents_are_current() {
    for (document, arguments) in [
        ("README.md", "--known deny corpus/differences/register-in-place/2.47.50.o"),
        ("docs/reports.md", "--raw corpus/malformed/function-overlap/function-overlap.sframe"),
        ("docs/reports.md", "corpus/golden/2.40/x86_64/debug-only.so"),
        ("docs/comparison.md", "--known deny corpus/differences/register-in-place/2.47.50.o"),
        ("docs/policy.md", "corpus/differences/ld-plt-got/2.44.so"),
        ("docs/comparison.md", "--coverage corpus/golden/2.44/x86_64/realign.o"),
        (
            "docs/comparison.md",
            "diff corpus/golden/2.44/x86_64/realign.o corpus/golden/2.47.50/x86_64/realign.o",
        ),
        (
            "docs/comparison.md",
            "diff --from cfi corpus/golden/2.44/x86_64/realign.o corpus/golden/2.47.50/x86_64/realign.o",
        ),
    ] {
        let written = fs::read_to_string(repository().join(document)).expect("readable");
        assert!(
            written.contains(&format!("sframe-check {arguments}\n")),
            "{document}: {arguments}"
        );
        let words: Vec<&str> = arguments.split(' ').collect();
        let text = run(&repository(), &words).text;
        assert!(written.contains(text.trim_end()), "{document} lacks:\n{text}");
    }
}

#[test]
fn explain_knows_every_rule() {
    for rule in CATALOGUE {
        let outcome = run(&corpus(), &["explain", rule.name]);
        assert_eq!(outcome.status, 0);
        let text = outcome.text;
        assert!(text.starts_with(rule.name) && text.contains("What to do"), "{text}");
    }
    let list = run(&corpus(), &["explain"]).text;
    assert!(CATALOGUE.iter().all(|rule| list.contains(rule.name)));
}
