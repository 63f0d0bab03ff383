//! Runs `sframe-check`, which Cargo builds in the same folder as the test programs.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The path of the program. Cargo builds it before the tests of its own package, but not before those of other
/// packages.
#[must_use]
pub fn path() -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    // Test programs are in `deps`, in the program's folder.
    test.ancestors().nth(2).expect("two folders").join("sframe-check")
}

/// A command that runs the program in a folder, without input.
#[must_use]
pub fn command(folder: &Path, arguments: &[impl AsRef<OsStr>]) -> Command {
    let mut command = Command::new(path());
    command.current_dir(folder).args(arguments).stdin(Stdio::null());
    command
}

/// The exit status and output of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The exit status.
    pub status: i32,
    /// Standard output.
    pub text: String,
    /// Standard error.
    pub stderr: String,
}

/// Runs the program in a folder.
#[must_use]
pub fn run(folder: &Path, arguments: &[impl AsRef<OsStr>]) -> Outcome {
    let output = command(folder, arguments).output().expect("the program runs");
    Outcome {
        status: output.status.code().expect("not killed by a signal"),
        text: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}
