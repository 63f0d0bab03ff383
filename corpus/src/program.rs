//! Runs of `sframe-check`, which Cargo builds beside the test programs.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where the program is. Cargo builds it for the tests of its own package; others have to.
#[must_use]
pub fn path() -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    // Test programs are in `deps` beside it.
    test.ancestors().nth(2).expect("two folders").join("sframe-check")
}

/// The program in a folder, without input.
#[must_use]
pub fn command(folder: &Path, arguments: &[impl AsRef<OsStr>]) -> Command {
    let mut command = Command::new(path());
    command.current_dir(folder).args(arguments).stdin(Stdio::null());
    command
}

/// What a run printed, and its exit status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The exit status.
    pub status: i32,
    /// Standard output.
    pub text: String,
    /// Standard error.
    pub complaints: String,
}

/// Runs the program in a folder to its end.
#[must_use]
pub fn run(folder: &Path, arguments: &[impl AsRef<OsStr>]) -> Outcome {
    let output = command(folder, arguments).output().expect("the program runs");
    Outcome {
        status: output.status.code().expect("it ends by itself"),
        text: String::from_utf8(output.stdout).expect("UTF-8"),
        complaints: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}
