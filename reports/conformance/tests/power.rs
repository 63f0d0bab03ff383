//! The vectors find mistakes: mutants of the readers fail them.

use std::process::Command;

use sframe_corpus::{corpus, tools, tries};

/// Runs a script of `corpus/conformance/mutants`, which exits with 0 if the mutants fail.
fn script(name: &str, arguments: &[&str]) {
    if !tools::is_installed("python3") {
        return;
    }
    let path = corpus().join("conformance/mutants").join(name);
    let output = Command::new("python3").arg("-B").arg(path).args(arguments).output();
    let output = output.expect("python3 runs");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
}

/// All 640 take minutes: `corpus/conformance/mutants/mutate.py`.
#[test]
fn every_mutant_of_a_sample_fails_or_is_explained() {
    script("mutate.py", &["--every", tries("160", "40")]);
}

/// Each mutant of the reader in Rust takes seconds to build, so that they run at night:
/// `corpus/conformance/mutants/mutate_rust.py`. Here, only the list of equivalent ones is compared with the reader.
#[test]
fn equivalent_mutants_of_the_rust_reader_are_changes_of_it() {
    script("mutate_rust.py", &["--check"]);
}

#[test]
fn a_reader_with_another_bit_layout_fails_in_the_first_folder() {
    script("other_layout.py", &[]);
}
