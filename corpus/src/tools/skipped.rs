//! Tests that compare less than they could, because something is missing.
//!
//! The output of a test that passes is not shown. Each such test leaves a note instead, and the last test program of the
//! workspace prints all notes of its run of `cargo test`.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::process::parent_id;
use std::path::{Path, PathBuf};

/// The folder of notes: a file for each process that started test programs, which is one run of `cargo test`.
fn all_runs() -> PathBuf {
    crate::repository().join("target/skipped")
}

/// Notes that the running test is skipped, or a part of it: `what` is missing, and `remedy` is how to get it.
///
/// # Panics
/// Panics if the note cannot be written.
pub fn note(what: &str, remedy: &str) {
    println!("skipped: {what} is missing: {remedy}");
    write(&all_runs(), what, remedy).expect("a note can be written below target/");
}

fn write(runs: &Path, what: &str, remedy: &str) -> io::Result<()> {
    fs::create_dir_all(runs)?;
    let file = runs.join(parent_id().to_string());
    let mut file = OpenOptions::new().create(true).append(true).open(file)?;
    // In one call: other test programs may write at the same time.
    file.write_all(format!("{what}\t{remedy}\n").as_bytes())
}

/// The command that installs every tool that tests compare with.
const INSTALL: &str = "corpus/install-tools";

/// Prints what was skipped in this run of `cargo test`, and forgets all notes.
///
/// # Errors
/// Returns an error if the notes cannot be read or removed.
pub fn summarise() -> io::Result<()> {
    let runs = all_runs();
    let notes = match fs::read_to_string(runs.join(parent_id().to_string())) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        notes => notes?,
    };
    println!("{}", summary(&notes));
    match fs::remove_dir_all(&runs) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
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

    use super::{INSTALL, summary};

    #[test]
    fn missing_tools_are_one_line() {
        let notes = "gdb\tinstall it\nreadelf\tfetch it\ngdb\tinstall it\n";
        let wanted =
            "3 checks were skipped, for want of gdb, readelf: corpus/install-tools installs them";
        assert_eq!(summary(notes), wanted);
        assert!(summary("gdb\tinstall it\n").starts_with("1 check was skipped"));
        assert!(summary("").starts_with("No check was skipped"));
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a folder");
        assert!(root.join(INSTALL).is_file());
    }
}
