//! Core dumps of AArch64 and s390x programs, which qemu runs and whose core dumps it writes.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use sframe_corpus::{folder, tools};

use super::{frames, gdb, walk};

/// What a program does, and the functions on its stack.
type Stack = (&'static str, &'static [&'static str]);

/// The stacks that are made only on AArch64: with a signal, a call of address 0, and CFAs in registers that
/// inner frames have saved.
const OF_AARCH64: [&str; 3] = ["handler", "null", "x19"];

const STACKS: [Stack; 6] = [
    ("leaf", &["in_leaf", "start"]),
    ("recurse", &["leaf", "recurse", "recurse", "recurse", "recurse", "start"]),
    ("dynamic", &["leaf", "recurse", "recurse", "recurse", "dynamic", "start"]),
    (
        "handler",
        &["leaf", "recurse", "recurse", "recurse", "recurse", "handler", "?", "handled", "start"],
    ),
    ("null", &["?", "null_call", "start"]),
    ("x19", &["in_leaf", "saves_all", "by_expression", "in_registers", "by_x19", "start"]),
];

/// Builds a program from its C source and, if there is one, its assembly.
pub(crate) fn build(
    folder: &Path,
    machine: &str,
    source: &str,
    toolchain: &str,
    options: &[&str],
) -> Option<PathBuf> {
    let qemu = format!("qemu-{machine}");
    if ![qemu.as_str(), "gdb-multiarch"].into_iter().all(tools::is_installed) {
        return None;
    }
    let (compiler, bin) = (tools::toolchain("gcc-12")?, tools::toolchain(toolchain)?);
    // The compiler starts `as` and `ld` from a folder under these names.
    for tool in ["as", "ld"] {
        symlink(bin.join(format!("{machine}-linux-gnu-{tool}")), folder.join(tool))
            .expect("a link");
    }
    let program = folder.join("program");
    let mut gcc = Command::new(compiler.join(format!("{machine}-linux-gnu-gcc-12")));
    gcc.arg(format!("-B{}", folder.display()));
    gcc.args(["-nostdlib", "-static", "-ffreestanding", "-fno-optimize-sibling-calls"]);
    gcc.args(["-fasynchronous-unwind-tables", "-w", "-o"]).arg(&program);
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/walk/programs");
    let written = [format!("{source}.c"), format!("{source}.s")];
    let written = written.iter().map(|name| sources.join(name));
    gcc.args(options).args(written.filter(|path| path.exists()));
    let output = gcc.output().expect("gcc runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(program)
}

/// A core dump by qemu, which chooses its name.
pub(crate) fn core(program: &Path, machine: &str, what: &str) -> PathBuf {
    core_below(Path::new("/"), program, machine, what)
}

/// A core dump of a program whose dynamic linker and libraries are below `sysroot`.
pub(crate) fn core_below(sysroot: &Path, program: &Path, machine: &str, what: &str) -> PathBuf {
    let folder = program.parent().expect("a folder").join(what);
    fs::create_dir_all(&folder).expect("a folder");
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -c unlimited && exec \"$0\" -L \"$1\" \"$2\" \"$3\""]);
    shell.arg(format!("qemu-{machine}")).arg(sysroot);
    let output = shell.arg(program).arg(what).current_dir(&folder).output().expect("sh runs");
    assert!(!output.status.success());
    let entries =
        fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    // The kernel may write one of qemu itself.
    let by_qemu = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("qemu_"))
    };
    let mut found = entries.filter(by_qemu);
    found.next().unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

/// The names of the functions in a walk, without the label that starts the program, which has no size.
fn symbols(thread: &Value) -> Vec<String> {
    let levels = thread["frames"].as_array().expect("frames").iter();
    let name = |level: &Value| level["witnesses"][1]["symbol"].as_str().unwrap_or("?").to_owned();
    let mut names: Vec<String> = levels.map(name).collect();
    assert_eq!(names.pop().as_deref(), Some("_start"));
    names
}

/// What was walked: the stack, the program, its core dump and the walk of its only thread.
type Walked = (&'static str, PathBuf, PathBuf, Value);

/// The walks of all stacks.
fn walks(name: &str, machine: &str, toolchain: &str, options: &[&str]) -> Vec<Walked> {
    let folder = folder!(name);
    let options = [&["-Wa,--gsframe"], options].concat();
    let program = build(&folder, machine, machine, toolchain, &options);
    let Some(program) = program else { return Vec::new() };
    let is_made = |what| machine == "aarch64" || !OF_AARCH64.contains(what);
    let stacks = STACKS.iter().filter(|(what, _)| is_made(what));
    let walked = stacks.map(|(what, functions)| {
        let core = core(&program, machine, what);
        let arguments = ["--exe", "program", core.to_str().expect("text")];
        let (status, walks) = walk(&folder, &arguments);
        let name = walks["machine"].as_str().expect("a machine").to_lowercase();
        assert_eq!((status, name.as_str()), (0, machine), "{what}: {walks}");
        let thread = walks["threads"][0].clone();
        assert_eq!(symbols(&thread), *functions, "{what}");
        assert_eq!(frames(&thread, "sframe"), frames(&thread, "cfi"), "{what}");
        let signals = frames(&thread, "cfi").iter().filter(|frame| frame.signal).count();
        assert_eq!(signals, usize::from(*what == "handler"));
        (*what, program.clone(), core, thread)
    });
    walked.collect()
}

#[test]
fn walks_are_like_those_of_gdb() {
    for (machine, toolchain, options) in [
        ("aarch64", "2.47.50", &["-O2"][..]),
        ("aarch64", "2.44", &["-O1", "-fomit-frame-pointer"]),
        ("aarch64", "2.44", &["-O0"]),
        ("s390x", "2.47.50", &["-O2"]),
        // Without optimisation, leaf functions save FP in a floating-point register, which qemu's core dumps lack.
        ("s390x", "2.47.50", &["-O1"]),
    ] {
        let name = format!("walk-{machine}-{toolchain}{}", options[0]);
        for (what, program, core, thread) in walks(&name, machine, toolchain, options) {
            // gdb 13 does not return from qemu's signal frame. The functions on this stack are compared above.
            if what == "handler" {
                continue;
            }
            let expected = gdb::backtraces("gdb-multiarch", &program, &core).remove(0).1;
            assert_eq!(frames(&thread, "cfi"), expected, "{what} {options:?}");
            println!("{name} {what}: {} frames", expected.len());
        }
    }
}

/// gdb needs registers that qemu's core dumps lack to authenticate addresses, so that the functions are the truth.
#[test]
fn signed_return_addresses() {
    let options = ["-O2", "-march=armv8.3-a", "-mbranch-protection=pac-ret"];
    for (what, _, _, thread) in walks("walk-aarch64-signed", "aarch64", "2.47.50", &options) {
        let levels = thread["frames"].as_array().expect("frames");
        let signed = levels.iter().filter(|level| {
            let rows = level["witnesses"].as_array().expect("witnesses").iter();
            rows.filter(|frame| frame["row"]["ra_signed"] == true).count() >= 2
        });
        let signed = signed.count();
        assert!(signed >= 1, "{what}: {thread}");
        println!("{what}: {signed} signed");
    }
}
