//! Core dumps of AArch64 programs with a C library: its frames and those below them, threads, and the linker's stubs.
//!
//! The core dumps are qemu's, which do not list the libraries. They have all threads.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use sframe_corpus::{folder, tools};

use super::machines::core_below;
use super::{FrameAt, frames, gdb, rows, walk};

/// What the program does, the functions of its own on the stack of the thread that crashes, and the number of threads.
type Stack = (&'static str, &'static [&'static str], usize);

const ABORT: Stack = ("abort", &["die", "dies", "dies", "dies", "main", "_start"], 1);
const SORT: Stack =
    ("sort", &["leaf", "recurse", "recurse", "compare", "sorts", "main", "_start"], 1);
const THREADS: Stack =
    ("threads", &["leaf", "recurse", "recurse", "recurse", "recurse", "recurse", "crash"], 5);
const HANDLER: Stack = (
    "handler",
    &["leaf", "recurse", "recurse", "recurse", "recurse", "handler", "handled", "main", "_start"],
    1,
);
/// The handler has a stack of its own, above the first one.
const OTHER_STACK: Stack = (
    "other-stack",
    &[
        "leaf",
        "recurse",
        "recurse",
        "recurse",
        "recurse",
        "handler",
        "on_other_stack",
        "main",
        "_start",
    ],
    1,
);
/// The handler has interrupted a leaf function.
const FAULT: Stack = (
    "fault",
    &[
        "leaf", "recurse", "recurse", "recurse", "recurse", "handler", "leaf", "faults", "main",
        "_start",
    ],
    1,
);
const STUB: Stack = ("stub", &["by_stub", "in_stub", "main", "_start"], 1);
const ENTRY: Stack = ("entry", &["by_stub", "to_bad_entry", "main", "_start"], 1);
/// The CFI of glibc 2.36 for the function to which the first stub jumps leaves out the 16 bytes that the stub has pushed.
/// They contain the same return address again: gdb and all witnesses see `by_stub` twice.
const RESOLVER: Stack = ("resolver", &["by_stub", "in_resolver", "main", "_start"], 1);

/// After the push of the stub that leads to the dynamic linker: gdb 13 does not know that it has moved SP, and sees
/// `by_stub` twice.
const FIRST_STUB: Stack = ("first-stub", &["by_stub", "in_first_stub", "main", "_start"], 1);
/// With the 2,001 frames of `recurse` as one.
const DEEP: Stack = ("deep", &["leaf", "recurse", "main", "_start"], 1);

/// The stacks of programs with shared libraries, and of static ones, which have no stubs for other files.
const ALL: [Stack; 11] =
    [ABORT, SORT, THREADS, HANDLER, OTHER_STACK, FAULT, STUB, ENTRY, RESOLVER, FIRST_STUB, DEEP];
/// gdb 13 does not return from qemu's signal frames, so that the functions on these stacks are the only truth.
const WITH_SIGNALS: [Stack; 3] = [HANDLER, OTHER_STACK, FAULT];
const STATIC: [Stack; 4] = [ABORT, SORT, THREADS, HANDLER];

/// A program, and the folder with its dynamic linker and libraries.
struct Program {
    path: PathBuf,
    sysroot: PathBuf,
}

/// The folder of a C library for AArch64.
fn sysroot() -> Option<PathBuf> {
    const REMEDY: &str = "reports/process/tools/debuggers installs it";
    for tool in ["qemu-aarch64", "gdb-multiarch"] {
        if !tools::is_installed(tool) {
            return None;
        }
    }
    if !tools::has("aarch64-linux-gnu-gcc") {
        tools::missing("aarch64-linux-gnu-gcc", REMEDY);
        return None;
    }
    let mut gcc = Command::new("aarch64-linux-gnu-gcc");
    let output = gcc.arg("-print-file-name=libc.so").output().expect("gcc runs");
    let library = String::from_utf8(output.stdout).expect("a path");
    // The compiler prints the bare name of a file that it does not find.
    let library = fs::canonicalize(library.trim()).ok().filter(|path| path.is_absolute());
    let root = library.and_then(|path| Some(path.parent()?.parent()?.to_owned()));
    if root.is_none() {
        tools::missing("a C library for AArch64", REMEDY);
    }
    root
}

/// Builds the program. The assembler and linker of `toolchain` write its SFrame section.
fn build(folder: &Path, toolchain: &str, options: &[&str]) -> Option<Program> {
    let sysroot = sysroot()?;
    let bin = tools::toolchain(toolchain)?;
    // The compiler starts `as` and `ld` from a folder under these names.
    for tool in ["as", "ld"] {
        let from = bin.join(format!("aarch64-linux-gnu-{tool}"));
        std::os::unix::fs::symlink(from, folder.join(tool)).expect("a link");
    }
    let path = folder.join("program");
    let mut gcc = Command::new("aarch64-linux-gnu-gcc");
    gcc.arg(format!("-B{}", folder.display())).args(options);
    gcc.args(["-w", "-fno-optimize-sibling-calls", "-Wa,--gsframe", "-pthread", "-Wl,-z,lazy"]);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/walk/programs/linked.c");
    let output = gcc.arg("-o").arg(&path).arg(source).output().expect("gcc runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(Program { path, sysroot })
}

impl Program {
    fn core(&self, what: &str) -> PathBuf {
        core_below(&self.sysroot, &self.path, "aarch64", what)
    }

    /// The walks of a core dump. The program's libraries are below `sysroot`.
    fn walk(&self, core: &Path, sysroot: &Path) -> (i32, Value) {
        let text = |path: &Path| path.to_str().expect("text").to_owned();
        let (sysroot, core) = (text(sysroot), text(core));
        let folder = self.path.parent().expect("a folder");
        walk(folder, &["--exe", "program", "--sysroot", &sysroot, &core])
    }

    /// Walks all stacks of one kind: every thread is walked to its outermost frame, and the functions are the expected ones.
    /// Returns the walk and the core dump.
    fn walked(&self, stack: &Stack) -> (Value, PathBuf) {
        let (what, functions, count) = stack;
        let core = self.core(what);
        let (status, walks) = self.walk(&core, &self.sysroot);
        assert_eq!((status, &walks["undecided"]), (0, &serde_json::json!([])), "{what}: {walks}");
        let threads = walks["threads"].as_array().expect("threads");
        assert_eq!(threads.len(), *count, "{what}");
        for thread in threads {
            assert_eq!((&thread["verdict"], &thread["complete"]), (&"equal".into(), &true.into()));
            assert_eq!(frames(thread, "sframe"), frames(thread, "cfi"), "{what}");
        }
        let mut found = own_functions(&threads[0]);
        if [RESOLVER.0, DEEP.0].contains(what) {
            found.dedup();
        }
        assert_eq!(found, *functions, "{what}");
        let signals = frames(&threads[0], "cfi").iter().filter(|frame| frame.signal).count();
        assert_eq!(signals, usize::from(WITH_SIGNALS.contains(stack)), "{what}");
        (walks, core)
    }
}

/// The functions on a stack that the program does not have from its C library.
fn own_functions(thread: &Value) -> Vec<&str> {
    let is_own = |name: &&str| ALL.iter().any(|(_, functions, _)| functions.contains(name));
    let levels = thread["frames"].as_array().expect("frames").iter();
    levels.filter_map(|level| level["witnesses"][1]["symbol"].as_str()).filter(is_own).collect()
}

/// Compares the walks of all threads with gdb's.
fn like_gdb(name: &str, toolchain: &str, options: &[&str], stacks: &[Stack]) {
    let folder = folder!(name);
    let Some(program) = build(&folder, toolchain, options) else { return };
    for stack in stacks {
        let (what, ..) = stack;
        let (walks, core) = program.walked(stack);
        if WITH_SIGNALS.contains(stack) {
            continue;
        }
        let mut expected = gdb::backtraces_below(&program.sysroot, &program.path, &core);
        let first = &mut expected[0].1;
        if *what == FIRST_STUB.0 && first[1].pc == first[2].pc {
            first.remove(1);
        }
        let threads = walks["threads"].as_array().expect("threads");
        let mut found: Vec<(u64, Vec<FrameAt>)> = threads
            .iter()
            .map(|thread| (thread["id"].as_u64().expect("a number"), frames(thread, "cfi")))
            .collect();
        found.sort_by_key(|(id, _)| *id);
        expected.sort_by_key(|(id, _)| *id);
        assert_eq!(found, expected, "{name} {what}");
        let by_sframe: usize = threads.iter().map(|thread| rows(thread, "sframe")).sum();
        assert!(by_sframe > if *what == DEEP.0 { 2000 } else { 2 }, "{name} {what}");
        let total: usize = found.iter().map(|(_, frames)| frames.len()).sum();
        println!("{name} {what}: {total} frames, {by_sframe} by SFrame");
    }
}

#[test]
fn programs_with_shared_libraries() {
    like_gdb("walk-linked", "2.47.50", &["-O2", "-no-pie", "-DLINKED"], &ALL);
}

#[test]
fn programs_with_shared_libraries_and_version_2() {
    let options = ["-O1", "-fomit-frame-pointer", "-no-pie", "-DLINKED"];
    like_gdb("walk-linked-2", "2.44", &options, &[ABORT, THREADS, STUB]);
}

#[test]
fn static_programs() {
    like_gdb("walk-linked-static", "2.47.50", &["-O2", "-static"], &STATIC);
}

/// gdb finds programs that can be at any address by their program headers in memory, which qemu does not dump, and needs
/// registers that qemu's core dumps lack to authenticate addresses: the functions are the truth.
#[test]
fn programs_at_any_address() {
    for (name, options, stacks) in [
        ("walk-linked-pie", &["-O2", "-fPIE", "-pie", "-DLINKED"][..], &ALL[..]),
        ("walk-linked-static-pie", &["-O2", "-static-pie"], &[THREADS]),
        (
            "walk-linked-signed",
            &["-O2", "-fPIE", "-pie", "-DLINKED", "-mbranch-protection=pac-ret"],
            &[ABORT, STUB, RESOLVER, HANDLER],
        ),
    ] {
        let folder = folder!(name);
        let Some(program) = build(&folder, "2.47.50", options) else { return };
        for stack in stacks {
            let (walks, _) = program.walked(stack);
            println!(
                "{name} {}: {} threads",
                stack.0,
                walks["threads"].as_array().map_or(0, Vec::len)
            );
        }
    }
}

/// A library that is missing, or is another file than the mapped one, is listed, and its frames are undecided.
#[test]
fn other_libraries_are_refused() {
    let folder = folder!("walk-linked-others");
    let Some(program) = build(&folder, "2.47.50", &["-O2", "-no-pie", "-DLINKED"]) else { return };
    let (whole, core) = program.walked(&SORT);
    let expected = frames(&whole["threads"][0], "cfi");
    let root = folder.join("root");
    fs::create_dir_all(root.join("lib")).expect("a folder");
    let linker = program.sysroot.join("lib/ld-linux-aarch64.so.1");
    fs::copy(linker, root.join("lib/libc.so.6")).expect("a copy");
    let (status, walks) = program.walk(&core, &root);
    let unusable = |name: &str, reason: &str| {
        format!("{} cannot be used: {reason}", root.join("lib").join(name).display())
    };
    let reasons = serde_json::json!([
        unusable("libc.so.6", "it is not the mapped file: its dynamic section is elsewhere"),
        unusable("ld-linux-aarch64.so.1", "No such file or directory")
    ]);
    assert_eq!((status, &walks["undecided"]), (2, &reasons));
    // The functions that the C library calls, and their return address in it.
    let found = frames(&walks["threads"][0], "cfi");
    assert_eq!(found, expected[..5]);
    let last = &walks["threads"][0]["frames"][4]["witnesses"][1];
    assert_eq!(last["end"], "no file is mapped at this address");
}
