//! Core dumps of programs that crash in all kinds of places.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use sframe_corpus::{folder, tools, tries};

use super::{frames, gdb, rows, walk};

/// What the programs do, and how many frames SFrame has to describe at least. libc has no SFrame section.
const STACKS: [(&str, usize); 20] = [
    ("leaf", 6),
    ("dynamic", 7),
    ("prologue", 2),
    ("body", 3),
    ("epilogue", 2),
    ("rbx", 1),
    ("outer-rbx", 4),
    ("last-call", 3),
    ("stub", 1),
    ("null-call", 4),
    ("data-call", 4),
    ("handler", 7),
    ("other-stack", 7),
    ("fault", 7),
    // The interrupted function keeps the CFA in a register that the kernel's frame contains.
    ("fault-rbx", 7),
    ("abort", 5),
    ("deep", 2002),
    ("endless", 1000),
    ("threads", 7),
    ("wait", 7),
];

/// Whether all tools are installed.
pub(crate) fn has_tools() -> bool {
    ["gcc", "gdb"].into_iter().all(tools::is_installed) && cfg!(target_arch = "x86_64")
}

/// Builds the program with options for the compiler. The assembler of `toolchain` writes its SFrame section.
pub(crate) fn build(folder: &Path, toolchain: &str, options: &[&str]) -> Option<PathBuf> {
    let bin = tools::toolchain(toolchain)?;
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/walk/programs");
    let program = folder.join("stacks");
    let mut gcc = Command::new("gcc");
    gcc.arg(format!("-B{}", bin.display())).args(options);
    gcc.args([
        "-w",
        "-fno-optimize-sibling-calls",
        "-Wa,--gsframe",
        "-pthread",
        "-Wl,-z,lazy",
        "-o",
    ]);
    gcc.arg(&program).args([sources.join("stacks.c"), sources.join("frames.s")]);
    let output = gcc.output().expect("gcc runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(program)
}

/// A core dump of the program, written by gdb when it crashes; of one that waits, when it waits.
pub(crate) fn core_by_gdb(program: &Path, what: &str) -> PathBuf {
    let core = program.with_file_name(format!("{what}.core"));
    let mut gdb = Command::new("gdb");
    gdb.args(["-nx", "-batch", "-iex", "set debuginfod enabled off"]);
    gdb.args(["-ex", "handle SIGUSR1 SIGBUS SIGILL nostop noprint pass"]);
    // A program that crashes in spite of its handler stops here; one that has none receives the signal again.
    if ["prologue", "body", "epilogue", "rbx", "outer-rbx", "last-call", "misread"].contains(&what)
    {
        gdb.args(["-ex", "handle SIGILL stop"]);
    }
    if what == "wait" {
        gdb.args(["-ex", "break pause"]);
    }
    gdb.args(["-ex", "run", "-ex"]).arg(format!("generate-core-file {}", core.display()));
    gdb.args(["-ex", "kill", "--args"]).arg(program).arg(what);
    let output = gdb.output().expect("gdb runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(core.exists(), "{what}: {}{errors}", String::from_utf8_lossy(&output.stdout));
    core
}

/// A core dump by the kernel; `None` if it does not write files into the program's folder.
fn core_by_kernel(program: &Path, what: &str) -> Option<PathBuf> {
    let pattern = fs::read_to_string("/proc/sys/kernel/core_pattern").ok()?;
    let pids = fs::read_to_string("/proc/sys/kernel/core_uses_pid").ok()?;
    if pattern.trim() != "core" || pids.trim() != "0" {
        return None;
    }
    let folder = program.parent().expect("a folder").join(format!("{what}-by-kernel"));
    fs::create_dir_all(&folder).expect("a folder");
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -c unlimited && exec \"$0\" \"$1\""]).arg(program).arg(what);
    let output = shell.current_dir(&folder).output().expect("sh runs");
    assert!(!output.status.success());
    let core = folder.join("core");
    core.exists().then_some(core)
}

/// Whether a document is valid under the schema of `walk`.
fn is_valid(document: &Value) {
    let schema =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/schema/walk.schema.json"));
    let schema = serde_json::from_str(&schema.expect("readable")).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let faults: Vec<String> = validator.iter_errors(document).map(|e| e.to_string()).collect();
    assert!(faults.is_empty(), "{faults:?}");
}

/// Compares the walks of all threads with gdb's.
fn is_like_gdb(program: &Path, core: &Path, what: &str, by_sframe: usize) {
    let folder = program.parent().expect("a folder");
    let name = core.to_str().expect("text");
    let (status, walks) = walk(folder, &["--max-frames", "20000", name]);
    is_valid(&walks);
    assert_eq!(walks["machine"], "AMD64");
    assert_eq!(walks["undecided"], serde_json::json!([]), "{name}");
    let threads = walks["threads"].as_array().expect("threads");
    let expected = gdb::backtraces("gdb", program, core);
    assert_eq!(threads.len(), expected.len());
    let mut described = 0;
    for thread in threads {
        let id = &thread["id"];
        let known = expected.iter().find(|(known, _)| id == known);
        let expected = &known.expect("gdb knows the thread").1;
        let found = frames(thread, "cfi");
        for (depth, (found, expected)) in found.iter().zip(expected).enumerate() {
            assert_eq!(found, expected, "{name}, thread {id}, #{depth}");
        }
        assert_eq!(found.len(), expected.len(), "{name}, thread {id}");
        // Where SFrame has no row it follows CFI, so that the frames are the same.
        assert!(frames(thread, "sframe") == found, "{name}, thread {id}");
        assert_eq!(thread["verdict"], "equal", "{name}, thread {id}");
        described += rows(thread, "sframe");
    }
    assert!(described >= by_sframe, "{name}: SFrame describes {described} frames");
    assert_eq!(status, 0, "{name}");
    println!("{what}: {} threads, {described} frames by SFrame", threads.len());
}

/// Walks every `step`th stack.
fn stacks(name: &str, toolchain: &str, options: &[&str], step: usize) {
    let folder = folder!(name);
    if !has_tools() {
        return;
    }
    let Some(program) = build(&folder, toolchain, options) else { return };
    let mut by_kernel = 0;
    for (what, by_sframe) in STACKS.into_iter().step_by(step) {
        let core = core_by_gdb(&program, what);
        is_like_gdb(&program, &core, what, by_sframe);
        if what != "wait"
            && let Some(core) = core_by_kernel(&program, what)
        {
            is_like_gdb(&program, &core, what, by_sframe);
            by_kernel += 1;
        }
    }
    println!("{by_kernel} core dumps by the kernel");
}

#[test]
fn optimised_code_with_version_3() {
    stacks("walk-optimised", "2.47.50", &["-O2"], 1);
}

#[test]
fn code_with_frame_pointers_and_version_3() {
    let options = ["-O1", "-fno-omit-frame-pointer", "-no-pie"];
    stacks("walk-pointers", "2.47.50", &options, tries(4, 1));
}

#[test]
fn code_without_optimisation_and_version_2() {
    stacks("walk-plain", "2.44", &["-O0", "-fcf-protection=full"], tries(4, 1));
}
