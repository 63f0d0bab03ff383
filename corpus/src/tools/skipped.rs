//! Tests that compare less than they could, because something is missing.
//!
//! The output of a test that passes is not shown. Each such test leaves a note instead, and the last test program of the
//! workspace prints all notes of its run of `cargo test`.

use std::collections::BTreeMap;
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
    print!("{}", summary(&notes));
    match fs::remove_dir_all(&runs) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// A line for each missing thing, with the number of comparisons that lack it.
fn summary(notes: &str) -> String {
    let mut missing: BTreeMap<&str, u32> = BTreeMap::new();
    for line in notes.lines() {
        *missing.entry(line).or_default() += 1;
    }
    if missing.is_empty() {
        return "Every test had the tools that it compares with.\n".to_owned();
    }
    let mut text = "Not compared, because a tool is missing:\n".to_owned();
    for (note, times) in missing {
        let (what, remedy) = note.split_once('\t').unwrap_or((note, ""));
        let tests = if times == 1 { "test" } else { "tests" };
        text.push_str(&format!("  {times:3} {tests}: {what} ({remedy})\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::summary;

    #[test]
    fn each_missing_tool_is_one_line() {
        let notes = "gdb\tinstall it\nreadelf\tfetch it\ngdb\tinstall it\n";
        let wanted = "Not compared, because a tool is missing:\n    2 tests: gdb (install it)\n    1 test: readelf (fetch it)\n";
        assert_eq!(summary(notes), wanted);
        assert!(summary("").starts_with("Every test"));
    }
}
