//! Tests that compare less than they could, because something is missing.
//!
//! The output of a test that passes is not shown. Each such test leaves a note instead. The last test program of the
//! workspace counts all notes of its run of `cargo test`, and lists the tests in `target/skipped/tests`, so that CI can run
//! them again where the tools are installed.

use std::collections::BTreeSet;
use std::env;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::process::parent_id;
use std::path::{Path, PathBuf};
use std::thread;

/// The folder of notes: a file for each process that started test programs, which is one run of `cargo test`.
fn all_runs() -> PathBuf {
    crate::repository().join("target/skipped")
}

/// The running test: its program and its name, which is `*` outside of the thread that runs one test.
fn running_test() -> (String, String) {
    let program = env::current_exe().unwrap_or_default();
    let program = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    // Cargo appends a hash.
    let program = program.rsplit_once('-').map_or(program.as_str(), |(name, _)| name);
    let thread = thread::current();
    let test = thread.name().filter(|&name| name != "main").unwrap_or("*");
    (program.to_owned(), test.to_owned())
}

/// Notes that the running test is skipped, or a part of it: `what` is missing, and `remedy` is how to get it.
///
/// # Panics
/// Panics if the note cannot be written.
pub fn note(what: &str, remedy: &str) {
    println!("skipped: {what} is missing: {remedy}");
    write(&all_runs(), what).expect("a note can be written below target/");
}

fn write(runs: &Path, what: &str) -> io::Result<()> {
    fs::create_dir_all(runs)?;
    let file = runs.join(parent_id().to_string());
    let mut file = OpenOptions::new().create(true).append(true).open(file)?;
    let (program, test) = running_test();
    // In one call: other test programs may write at the same time.
    file.write_all(format!("{what}\t{program}\t{test}\n").as_bytes())
}

/// The command that installs every tool that tests compare with.
const INSTALL: &str = "corpus/install-tools";

/// Prints what was skipped in this run of `cargo test`, lists the tests, and forgets all notes.
///
/// # Errors
/// Returns an error if the notes cannot be read or removed, or the list cannot be written.
pub fn summarise() -> io::Result<()> {
    let runs = all_runs();
    let notes = match fs::read_to_string(runs.join(parent_id().to_string())) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        notes => notes?,
    };
    println!("{}", summary(&notes));
    match fs::remove_dir_all(&runs) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::create_dir_all(&runs)?;
    fs::write(runs.join("tests"), tests(&notes))
}

/// A line for each test that noted something: its program and its name, with a tab between them.
fn tests(notes: &str) -> String {
    let tests = notes.lines().filter_map(|line| line.split_once('\t'));
    let tests: BTreeSet<_> = tests.map(|(_, test)| format!("{test}\n")).collect();
    tests.into_iter().collect()
}

/// One line: how many checks were skipped, for want of which tools, and how to get them.
fn summary(notes: &str) -> String {
    let names = notes.lines().map(|line| line.split('\t').next().unwrap_or(line));
    let missing: BTreeSet<&str> = names.collect();
    if missing.is_empty() {
        return "No check was skipped: every tool that the tests compare with is here.".to_owned();
    }
    let checks = match notes.lines().count() {
        1 => "1 check was".to_owned(),
        number => format!("{number} checks were"),
    };
    let missing: Vec<&str> = missing.into_iter().collect();
    format!("{checks} skipped, for want of {}: {INSTALL} installs them", missing.join(", "))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{INSTALL, summary, tests};

    #[test]
    fn missing_tools_are_one_line() {
        let notes = "gdb\twalk\tlive\nreadelf\tdump\tall\ngdb\twalk\tcores\n";
        let wanted =
            "3 checks were skipped, for want of gdb, readelf: corpus/install-tools installs them";
        assert_eq!(summary(notes), wanted);
        assert!(summary("gdb\twalk\tlive\n").starts_with("1 check was skipped"));
        assert!(summary("").starts_with("No check was skipped"));
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a folder");
        assert!(root.join(INSTALL).is_file());
    }

    #[test]
    fn a_test_that_lacks_two_tools_is_listed_once() {
        let notes = "gdb\twalk\tlive\nreadelf\tdump\tall\nqemu\twalk\tlive\n";
        assert_eq!(tests(notes), "dump\tall\nwalk\tlive\n");
    }

    #[test]
    fn the_running_test_is_named() {
        let (program, test) = super::running_test();
        assert_eq!(program, "sframe_corpus");
        assert!(test == "*" || test == "tools::skipped::tests::the_running_test_is_named");
    }
}
