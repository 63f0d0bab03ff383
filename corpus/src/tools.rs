//! External tools, which make inputs for tests or whose output is compared with ours.
//!
//! If a tool is missing, a test prints that it is skipped. With `SFRAME_REQUIRE_TOOLS`, as in CI, it fails instead.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Whether a missing tool is a failure.
#[must_use]
pub fn are_required() -> bool {
    std::env::var_os("SFRAME_REQUIRE_TOOLS").is_some()
}

/// Prints that something is missing, or fails the test if tools are required.
pub fn missing(name: &str) {
    println!("skipped: {name} is missing");
    assert!(!are_required(), "{name} is missing");
}

/// Whether a tool is installed.
#[must_use]
pub fn has(tool: &str) -> bool {
    let mut shell = Command::new("sh");
    shell.args(["-c", "command -v \"$0\"", tool]).stdout(Stdio::null());
    shell.status().expect("sh runs").success()
}

/// Runs a shell command that uses a tool. Returns `false` if the tool is missing and not required.
#[must_use]
pub fn run(folder: &Path, tool: &str, command: &str) -> bool {
    if !has(tool) {
        missing(tool);
        return false;
    }
    let output = Command::new("sh").args(["-e", "-c", command]).current_dir(folder).output();
    let output = output.expect("sh runs");
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    true
}

/// The folder with the toolchains: `SFRAME_TOOLCHAINS`, or the folder into which `corpus/build fetch` unpacks them.
#[must_use]
pub fn toolchains() -> PathBuf {
    let fetched = || crate::repository().join("target/toolchains");
    std::env::var_os("SFRAME_TOOLCHAINS").map_or_else(fetched, PathBuf::from)
}

/// The folder with the programs of a toolchain, or `None` if it is missing and not required.
#[must_use]
pub fn toolchain(name: &str) -> Option<PathBuf> {
    let folder = toolchains().join(name).join("bin");
    if folder.exists() {
        return Some(folder);
    }
    missing(&format!("{name}, which `corpus/build fetch {name}` unpacks,"));
    None
}
