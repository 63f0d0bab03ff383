//! The runner in Python, which people copy into their own projects: how it finds the vectors and the reader.

use std::path::Path;
use std::process::{Command, Output};

use sframe_corpus::{corpus, tools};

/// Runs a copy of the runner, or the one beside the vectors, with these arguments.
fn run(runner: &Path, arguments: &[&str]) -> Output {
    Command::new("python3").arg("-B").arg(runner).args(arguments).output().expect("python3 runs")
}

fn last_line(text: &[u8]) -> String {
    String::from_utf8_lossy(text).lines().last().unwrap_or_default().to_owned()
}

#[test]
fn a_reader_is_a_program_and_arguments_or_one_text() {
    if !tools::is_installed("python3") {
        return;
    }
    let runners = corpus().join("conformance/runners");
    let (runner, reader) = (runners.join("conformance.py"), runners.join("reader.py"));
    let reader = reader.display().to_string();
    let one_text = format!("python3 '{reader}'");
    let commands: [&[&str]; 2] = [&["python3", &reader], &[&one_text]];
    for command in commands {
        let output = run(&runner, &[&["--only", "v2/2.1.1"], command].concat());
        assert_eq!(output.status.code(), Some(0), "{command:?}: {output:?}");
        // The folder has six vectors.
        assert!(last_line(&output.stdout).contains("   6 pass    0 fail    0 unsupported"));
    }
}

/// It answers every request, so that what is wrong is that it finds no rows.
#[test]
fn the_skeleton_is_a_reader_without_rows() {
    if !tools::is_installed("python3") {
        return;
    }
    let runners = corpus().join("conformance/runners");
    let skeleton = runners.join("skeleton.py").display().to_string();
    let runner = runners.join("conformance.py");
    let output = run(&runner, &["--only", "v2/2.1-preamble", "--list", "python3", &skeleton]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let about = "v2/2.1-preamble/complete-amd64: A complete section: a function with a prologue";
    assert!(text.contains(about), "{text}");
    assert!(text.contains("{'found': None}, expected"), "{text}");
    assert!(!text.contains("crashed") && !text.contains("something else"), "{text}");
    // Of 13 vectors, one is sound and for AMD64, three are for other machines, and the others are malformed.
    assert!(last_line(&output.stdout).contains("   9 pass    1 fail    3 unsupported"), "{text}");
}

#[test]
fn missing_vectors_and_readers_are_named() {
    if !tools::is_installed("python3") {
        return;
    }
    let runner = corpus().join("conformance/runners/conformance.py");
    let alone = Path::new(env!("CARGO_TARGET_TMPDIR")).join("alone");
    std::fs::create_dir_all(&alone).expect("a folder");
    let copy = alone.join("conformance.py");
    std::fs::copy(&runner, &copy).expect("a copy");
    let folder = alone.display().to_string();
    let cases: [(&Path, &[&str], &str); 5] = [
        (&copy, &["cat"], "no vectors; --vectors names the folder"),
        (&runner, &["--vectors", &folder, "cat"], "no vectors; --vectors names the folder"),
        (&runner, &["--only", "v9/", "cat"], "no vectors whose path contains v9/"),
        (&runner, &["no-such-reader"], "no-such-reader: no such program"),
        (&runner, &[], "no command: name the program"),
    ];
    for (program, arguments, expected) in cases {
        let output = run(program, arguments);
        let message = last_line(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {output:?}");
        assert!(message.contains(expected), "{arguments:?}: {message}");
        assert!(output.stdout.is_empty(), "{arguments:?}: {output:?}");
    }
}
