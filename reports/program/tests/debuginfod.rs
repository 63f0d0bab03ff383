//! `--debuginfod`: debug files from servers, of elfutils and hostile ones, with the feature `http`; without it, what the option
//! says.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::path::{Path, PathBuf};

use sframe_corpus::program::{Outcome, command};
use sframe_corpus::{folder, tools};

#[cfg(feature = "http")]
#[path = "debuginfod/elfutils.rs"]
mod elfutils;
#[cfg(feature = "http")]
#[path = "debuginfod/hostile.rs"]
mod hostile;

/// The build ID of the program.
#[cfg(feature = "http")]
const ID: &str = "abcdef0123456789";

/// A stripped program, whose CFI is in its debug file alone.
struct Stripped {
    folder: PathBuf,
}

impl Stripped {
    fn new(folder: PathBuf) -> Option<Stripped> {
        std::fs::write(folder.join("program.c"), "int _start(void) { return 7; }\n")
            .expect("writable");
        let commands = [
            "gcc -g -O1 -fno-asynchronous-unwind-tables -nostdlib -static -Wl,--build-id=0xabcdef0123456789 -o program program.c",
            "objcopy --only-keep-debug program program.debug",
            "objcopy --strip-debug program stripped",
            "cp stripped another",
        ];
        let made = commands.iter().all(|command| tools::run(&folder, "objcopy", command));
        made.then_some(Stripped { folder })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Runs the program with no variables of clients but these.
    fn run(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Outcome {
        run(&self.folder, variables, arguments)
    }
}

fn run(folder: &Path, variables: &[(&str, &str)], arguments: &[&str]) -> Outcome {
    let mut command = command(folder, arguments);
    for name in ["URLS", "CACHE_PATH", "TIMEOUT", "MAXSIZE", "MAXTIME"] {
        command.env_remove(format!("DEBUGINFOD_{name}"));
    }
    for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
    {
        command.env_remove(name);
    }
    command.env("HOME", folder).env_remove("XDG_CACHE_HOME").envs(variables.iter().copied());
    let output = command.output().expect("the program runs");
    Outcome {
        status: output.status.code().expect("not killed by a signal"),
        text: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

#[cfg(not(feature = "http"))]
#[test]
fn a_program_without_the_feature_says_how_to_get_it() {
    let Some(stripped) = Stripped::new(folder!("debuginfod-without")) else { return };
    let urls = [("DEBUGINFOD_URLS", "http://127.0.0.1:1")];
    let outcome = stripped.run(&urls, &["--debuginfod", "stripped"]);
    assert_eq!(outcome.status, 3, "{}", outcome.stderr);
    assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("--features http"), "{}", outcome.stderr);
    assert_eq!(stripped.run(&urls, &["--coverage", "stripped"]).status, 0);
}

/// The folder of a stranger may have a configuration.
#[test]
fn a_configuration_asks_no_server() {
    let Some(stripped) = Stripped::new(folder!("debuginfod-config")) else { return };
    for text in ["debuginfod = true\n", "[check]\ndebuginfod = true\n"] {
        std::fs::write(stripped.path("sframe-check.toml"), text).expect("writable");
        let outcome = stripped.run(&[], &["--coverage", "stripped"]);
        assert_eq!(outcome.status, 3, "{}", outcome.stderr);
        assert!(outcome.stderr.contains("unknown field"), "{}", outcome.stderr);
    }
}

#[test]
fn stores_and_running_processes_ask_no_server() {
    let folder = folder!("debuginfod-refused");
    let urls = [("DEBUGINFOD_URLS", "http://127.0.0.1:1")];
    let store = run(&folder, &urls, &["--debuginfod", "--store", "store", "."]);
    assert_eq!(store.status, 3);
    assert!(store.stderr.contains("--debuginfod cannot go with a store"), "{}", store.stderr);
    let walk = run(&folder, &urls, &["walk", "--debuginfod", "--pid", "1"]);
    assert_eq!(walk.status, 3);
    assert!(walk.stderr.contains("cannot be used with"), "{}", walk.stderr);
}
