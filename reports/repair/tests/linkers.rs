//! Shared objects that lld and gold make of the corpus's objects for all machines, repaired, against GNU ld's of the same
//! objects: function by function, and row by row, as GNU objdump of the release prints them.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Listed, by_symbol, listed_file, listing, without_stubs};
use sframe_corpus::corpus;
use sframe_corpus::tools::toolchain;
use sframe_repair::{Change, repair};

const OBJECTS: [&str; 10] = [
    "calls",
    "leaf",
    "frame-pointer",
    "alloca",
    "realign",
    "cleanup",
    "cold",
    "sections",
    "cfi",
    "words",
];

/// Links objects into a shared object; `None` without the linker.
fn link(folder: &Path, linker: &Path, emulation: &str, objects: &[PathBuf]) -> Option<Vec<u8>> {
    let options = ["-shared", emulation];
    let used = if emulation.is_empty() { &options[..1] } else { &options };
    link_as(folder, linker, used, objects)
}

/// Links objects with these options; `None` without the linker.
fn link_as(folder: &Path, linker: &Path, options: &[&str], objects: &[PathBuf]) -> Option<Vec<u8>> {
    if !linker.exists() {
        return None;
    }
    let mut ld = Command::new(linker);
    ld.current_dir(folder).args(["--build-id=none", "-o", "linked.so"]);
    let output = ld.args(options).args(objects).output();
    let output = output.expect("a linker runs");
    assert!(output.status.success(), "{linker:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(std::fs::read(folder.join("linked.so")).expect("linked"))
}

/// The functions of a file, without stubs.
fn functions(folder: &Path, objdump: &Path, file: &[u8]) -> Listed {
    let text = listed_file(folder, objdump, file);
    by_symbol(file, &without_stubs(file, listing(&text)))
}

#[test]
fn all_linkers_describe_the_same_after_repair() {
    let folder = sframe_corpus::folder!("all_linkers_describe_the_same_after_repair");
    let Some(llvm) = toolchain("llvm-23") else { return };
    let mut compared = 0;
    for release in ["2.40", "2.44", "2.47.50"] {
        let Some(tools) = toolchain(release) else { return };
        for machine in ["x86_64", "aarch64", "aarch64_be", "s390x"] {
            let place = corpus().join(format!("golden/{release}/{machine}"));
            let objects = OBJECTS.iter().map(|name| place.join(format!("{name}.o")));
            let objects: Vec<PathBuf> = objects.filter(|object| object.exists()).collect();
            if objects.is_empty() {
                continue;
            }
            let prefix = machine.trim_end_matches("_be");
            let tool = |name: &str| tools.join(format!("{prefix}-linux-gnu-{name}"));
            let emulation = if machine == "aarch64_be" { "-maarch64linuxb" } else { "" };
            let gnu = link(&folder, &tool("ld"), emulation, &objects).expect("GNU ld");
            let expected = functions(&folder, &tool("objdump"), &gnu);
            assert!(expected.len() >= 20, "{release} {machine}: {} functions", expected.len());
            let gold = (machine != "aarch64_be").then(|| tool("ld.gold"));
            for linker in [Some(llvm.join("ld.lld")), gold].into_iter().flatten() {
                let Some(file) = link(&folder, &linker, "", &objects) else { continue };
                let what = format!("{release} {machine} {linker:?}");
                let repaired = repair(&file).unwrap_or_else(|error| panic!("{what}: {error}"));
                println!("{what}: {:?} {:?}", repaired.changes, repaired.lost);
                assert_eq!(
                    functions(&folder, &tool("objdump"), &repaired.bytes),
                    expected,
                    "{what}"
                );
                compared += 1;
            }
        }
    }
    assert!(compared >= 10, "only {compared}");
}

/// GNU ld appends sections of a version that it cannot merge, if it writes none itself. After a repair, the functions are
/// those of the objects, each linked on its own, so that there is nothing to merge.
#[test]
fn sections_appended_by_gnu_ld_are_merged() {
    let folder = sframe_corpus::folder!("sections_appended_by_gnu_ld_are_merged");
    let tool = |release: &str, name: &str| {
        Some(toolchain(release)?.join(format!("x86_64-linux-gnu-{name}")))
    };
    for (old, new, objects) in [("2.40", "2.44", "2.44"), ("2.44", "2.47.50", "llvm-23")] {
        let place = corpus().join(format!("golden/{objects}/x86_64"));
        let names = ["calls", "leaf", "frame-pointer", "alloca"];
        let objects: Vec<PathBuf> =
            names.iter().map(|name| place.join(format!("{name}.o"))).collect();
        let (Some(ld), Some(objdump)) = (tool(old, "ld"), tool(new, "objdump")) else { return };
        let ignored = "--unresolved-symbols=ignore-all";
        let appended = link_as(&folder, &ld, &["-static", ignored], &objects).expect("GNU ld");
        let repaired = repair(&appended).unwrap_or_else(|error| panic!("{old}: {error}"));
        println!("{old}: {:?} {:?}", repaired.changes, repaired.lost);
        assert!(repaired.changes.contains(&Change::Merged { sections: names.len() }), "{old}");
        let found = functions(&folder, &objdump, &repaired.bytes);
        let mut expected = Listed::new();
        for object in objects {
            let Some(lld) = toolchain("llvm-23") else { return };
            let (Some(newer), lld) = (tool(new, "ld"), lld.join("ld.lld")) else { return };
            let linker = if new == "2.44" { newer } else { lld };
            let alone =
                link_as(&folder, &linker, &["-static", ignored], &[object]).expect("linked");
            expected.extend(functions(&folder, &objdump, &alone));
        }
        assert_eq!(found, expected, "{old}");
        assert!(found.len() >= 10, "{old}: {} functions", found.len());
    }
}
