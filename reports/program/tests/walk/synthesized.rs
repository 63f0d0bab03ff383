//! Stacks of a program and a C library that were built without SFrame, and got their sections from `synthesize`. gdb's
//! backtraces, which it makes from CFI, are the truth.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use sframe_corpus::{folder, program};

use super::cores::{core_by_gdb, has_tools};
use super::{frames, gdb, rows, walk};

/// What the program does before its core is dumped, and how many frames have no row in version 3 and in version 2: data that
/// is called; in version 2, which has no mark for them, frames that the kernel makes for signals.
const STACKS: [(&str, [usize; 2]); 7] = [
    ("leaf", [0, 0]),
    ("dynamic", [0, 0]),
    ("data-call", [1, 1]),
    ("handler", [0, 1]),
    ("other-stack", [0, 1]),
    ("abort", [0, 0]),
    ("threads", [0, 0]),
];

/// Builds the program, adds sections to it and to its C library, which it finds in its own folder; `None` without tools.
fn build(folder: &Path, flags: &[&str], version: u8) -> Option<PathBuf> {
    if !has_tools() {
        return None;
    }
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/walk/programs");
    let mut gcc = Command::new("gcc");
    gcc.current_dir(folder).args(["-w", "-fno-optimize-sibling-calls", "-pthread", "-o", "plain"]);
    gcc.args(flags).arg(format!("-Wl,-rpath,{}", folder.display()));
    let output = gcc.args([sources.join("stacks.c"), sources.join("frames.s")]).output();
    let output = output.expect("gcc runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let library = Command::new("gcc").arg("-print-file-name=libc.so.6").output().expect("gcc runs");
    let library = String::from_utf8(library.stdout).expect("a path");
    let version = version.to_string();
    for (file, made) in [("plain", "stacks"), (library.trim(), "libc.so.6")] {
        let run = program::run(folder, &["synthesize", file, "-o", made, "--version", &version]);
        assert!(run.status <= 1, "{run:?}");
    }
    Some(folder.join("stacks"))
}

/// The stacks by SFrame are those of gdb, and all frames but `missing` have a row.
fn is_like_gdb(walks: &Value, expected: &[(u64, Vec<super::FrameAt>)], what: &str, missing: usize) {
    let threads = walks["threads"].as_array().expect("threads");
    assert_eq!(threads.len(), expected.len(), "{what}");
    for thread in threads {
        let known = expected.iter().find(|(id, _)| thread["id"] == *id).expect("gdb knows it");
        let found = frames(thread, "sframe");
        assert_eq!(found, known.1, "{what}: {thread}");
        assert_eq!(frames(thread, "cfi"), known.1, "{what}: {thread}");
        assert_eq!(thread["verdict"], "equal", "{what}: {thread}");
        let described = rows(thread, "sframe");
        println!("{what}: {described} of {} frames", found.len());
        assert!(described + missing >= found.len(), "{what}: {described} of {}", found.len());
    }
}

fn cores(name: &str, flags: &[&str], version: u8) {
    let folder = folder!(name);
    let Some(program) = build(&folder, flags, version) else { return };
    for (what, missing) in STACKS {
        let core = core_by_gdb(&program, what);
        let (status, walks) = walk(&folder, &[core.to_str().expect("text")]);
        let expected = gdb::backtraces("gdb", &program, &core);
        is_like_gdb(&walks, &expected, what, missing[usize::from(version == 2)]);
        assert_eq!(status, 0, "{what}");
    }
}

#[test]
fn cores_are_walked_through_synthesised_sections() {
    cores("walk-synthesised", &["-O2"], 3);
}

#[test]
fn cores_are_walked_through_synthesised_sections_of_version_2() {
    cores("walk-synthesised-2", &["-O1", "-no-pie"], 2);
}

/// Each row at which the program arrives is right: the truth is its stack, as the processor makes it.
#[test]
fn traces_confirm_synthesised_sections() {
    let folder = folder!("trace-synthesised");
    let Some(program) = build(&folder, &["-O2"], 3) else { return };
    let path = program.to_str().expect("text");
    let run = program::run(&folder, &["trace", "--format", "json", "--", path, "abort"]);
    let report: Value = serde_json::from_str(&run.text).expect("JSON");
    for name in ["stacks", "libc.so.6"] {
        let path = folder.join(name);
        let files = report["files"].as_array().expect("files");
        let own = files.iter().find(|file| file["path"] == path.to_str().expect("text"));
        let witnesses = own.expect("it ran")["witnesses"].as_array().expect("witnesses");
        let of = |name: &str| witnesses.iter().find(|witness| witness["witness"] == name);
        let (sframe, cfi) = (of("SFrame").expect("a section"), of("CFI").expect("CFI"));
        println!("{name}: {} right, {} without a row", sframe["right"], sframe["no_row"]);
        assert_eq!((&sframe["wrong"], &sframe["undecided"]), (&0.into(), &0.into()), "{sframe}");
        assert_eq!(sframe["right"], cfi["right"], "{sframe}");
        assert!(sframe["right"].as_u64() > Some(20), "{sframe}");
    }
}
