//! External tools, which make inputs for tests or whose output is compared with ours.
//!
//! If a tool is missing, a test is [skipped]. With `SFRAME_REQUIRE_TOOLS`, as in CI, it fails instead.

pub mod skipped;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Whether a missing tool is a failure.
#[must_use]
pub fn are_required() -> bool {
    std::env::var_os("SFRAME_REQUIRE_TOOLS").is_some()
}

/// Notes that the running test is skipped because something is missing, and how to get it; or fails the test if tools are
/// required.
pub fn missing(what: &str, remedy: &str) {
    skipped::note(what, remedy);
    assert!(!are_required(), "{what} is missing: {remedy}");
}

/// Whether a program is installed, with those that it starts; if not, the running test is skipped or fails, as by
/// [`missing`].
#[must_use]
pub fn is_installed(tool: &str) -> bool {
    let mut needed = [tool].into_iter().chain(started_by(tool).iter().copied());
    let absent = needed.find(|tool| !has(tool));
    if let Some(tool) = absent {
        missing(tool, &remedy(tool));
    }
    absent.is_none()
}

/// Whether `script` makes pseudo-terminals here; if not, the running test is skipped or fails, as by [`missing`].
#[must_use]
pub fn are_terminals_made() -> bool {
    if !is_installed("script") {
        return false;
    }
    let output = Command::new("script").args(["-qec", "true", "/dev/null"]).output();
    let is_made = output.expect("script runs").status.success();
    if !is_made {
        missing("a pseudo-terminal", "mount devpts at /dev/pts");
    }
    is_made
}

/// The programs that a compiler's driver starts.
fn started_by(tool: &str) -> &'static [&'static str] {
    match tool {
        "cc" | "c++" | "gcc" | "g++" => &["as", "ld"],
        _ => &[],
    }
}

/// How to get a program.
fn remedy(tool: &str) -> String {
    let installer = match tool {
        "gdb" | "gdb-multiarch" | "llvm-bolt-19" => "reports/process/tools/debuggers",
        "createrepo_c" | "apk" | "repo-add" | "debuginfod" | "debuginfod-find" => {
            "reports/input/tools/indexes"
        }
        "duckdb" => "reports/store/tools/readers",
        "dh" => return "install debhelper".to_owned(),
        _ if tool.starts_with("qemu-") => "reports/process/tools/debuggers",
        _ => return format!("install {tool}"),
    };
    format!("{installer} installs it")
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
    if !is_installed(tool) {
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

/// The folder with SQLite and zlib, which `corpus/build real` makes for each toolchain: below `SFRAME_TARGET`, or `target`.
#[must_use]
pub fn real_libraries() -> PathBuf {
    target().join("real")
}

/// The folder below which tools and libraries are made: `SFRAME_TARGET`, or `target`.
fn target() -> PathBuf {
    let target = std::env::var_os("SFRAME_TARGET");
    target.map_or_else(|| crate::repository().join("target"), PathBuf::from)
}

/// The folder with programs made of the code of consumers, which `corpus/consumers/build` makes: below `SFRAME_TARGET`, or
/// `target`.
#[must_use]
pub fn consumers() -> PathBuf {
    target().join("consumers/bin")
}

/// The folder with the programs of a toolchain, or `None` if it is missing and not required.
#[must_use]
pub fn toolchain(name: &str) -> Option<PathBuf> {
    let folder = toolchains().join(name).join("bin");
    if folder.exists() {
        return Some(folder);
    }
    missing(&format!("the toolchain {name}"), &format!("corpus/build fetch {name}"));
    None
}

/// Assembles a text in `folder` with an assembler of a toolchain. Returns the object, and what the assembler prints.
///
/// # Errors
/// Returns what it prints if it refuses the text.
pub fn assemble(
    assembler: &Path,
    arguments: &[&str],
    folder: &Path,
    text: &str,
) -> Result<(Vec<u8>, String), String> {
    std::fs::write(folder.join("f.s"), text).expect("written");
    let mut command = Command::new(assembler);
    command.args(arguments).args(["-o", "f.o", "f.s"]).current_dir(folder);
    let output = command.output().expect("the assembler runs");
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        return Err(printed);
    }
    Ok((std::fs::read(folder.join("f.o")).expect("an object"), printed))
}
