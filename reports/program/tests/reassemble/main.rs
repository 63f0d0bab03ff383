//! `reassemble`: an object assembled from its output has the same rows for all registers as the original, according to
//! gimli, and the directives match the original's source.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod compare;
mod entries;
mod hostile;
mod parts;
mod rows;
mod source;
mod tools;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use sframe_corpus::{corpus, golden};
use tools::{Machine, folder, sframe_check, text};

/// The results of rebuilding files with an assembler.
#[derive(Debug, Default)]
struct Counts {
    functions: u64,
    rows: u64,
    /// Functions for which the assembler wrote SFrame data.
    described: u64,
    /// The number of findings by rule.
    findings: BTreeMap<String, u64>,
}

impl Counts {
    fn add(&mut self, other: Counts) {
        self.functions += other.functions;
        self.rows += other.rows;
        self.described += other.described;
        for (rule, count) in other.findings {
            *self.findings.entry(rule).or_default() += count;
        }
    }
}

/// Reassembles `path`, assembles the result with each assembler, and compares. Returns, for each assembler, the counts,
/// or its error message if it failed.
fn rebuild(path: &Path, folder: &Path) -> Vec<(&'static str, Result<Counts, String>)> {
    let data = fs::read(path).expect("readable");
    let file = object::File::parse(&*data).expect("ELF");
    let Some(machine) = Machine::of(&file) else { return Vec::new() };
    let source = folder.join("rebuilt.s");
    let arguments = ["reassemble".as_ref(), path, "-o".as_ref(), &source];
    let (status, _, message) = sframe_check(&arguments);
    let is_partial = message.contains("left out:") || message.starts_with("0 functions");
    assert!(status == 0 || status == 2 && is_partial, "{path:?}: {message}");
    let sections = rows::code_sections(&file);
    let original = rows::functions(&file, &sections);
    let mut outcomes = Vec::new();
    for toolchain in machine.assemblers() {
        let object = folder.join("rebuilt.o");
        let output = machine.assemble(toolchain, &source, &object);
        if !output.status.success() {
            outcomes.push((toolchain, Err(text(&output.stderr))));
            continue;
        }
        let library = folder.join("rebuilt.so");
        machine.link(toolchain, &object, &library);
        for rebuilt in [&object, &library] {
            let arguments = ["reassemble".as_ref(), path, "--compare".as_ref(), rebuilt];
            let (compared, stdout, stderr) = sframe_check(&arguments);
            assert_eq!(compared, status, "{path:?} by {toolchain}: {stdout}{stderr}");
        }
        let rebuilt_data = fs::read(&library).expect("readable");
        let rebuilt = object::File::parse(&*rebuilt_data).expect("ELF");
        let moved = rows::moved_sections(&sections, &rebuilt);
        let rebuilt = rows::functions(&rebuilt, &moved);
        let mut counts = checked(&object);
        // The rebuilt file has all functions that are not reported as left out, and no others.
        if let (Some(original), Some(rebuilt)) = (&original, rebuilt) {
            for (place, function) in &rebuilt {
                let same = original.get(place) == Some(function);
                assert!(
                    same,
                    "{path:?} by {toolchain}: {place:x?}: {function:#?} {:#?}",
                    original.get(place)
                );
            }
            let lost = original.len() - rebuilt.len();
            assert!(lost == 0 || status == 2, "{path:?} by {toolchain}: {lost} functions lost");
            counts.functions = rebuilt.len() as u64;
            counts.rows = rebuilt.values().map(|function| function.rows.len() as u64 - 1).sum();
        }
        outcomes.push((toolchain, Ok(counts)));
    }
    outcomes
}

/// The findings and functions that `sframe-check` reports for the SFrame data of the assembler.
fn checked(object: &Path) -> Counts {
    let arguments = ["--format".as_ref(), "json".as_ref(), "--all".as_ref(), object];
    let (_, report, _) = sframe_check(&arguments);
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let mut counts = Counts::default();
    for finding in report["files"][0]["findings"].as_array().into_iter().flatten() {
        let rule = finding["rule"].as_str().expect("a name").to_owned();
        *counts.findings.entry(rule).or_default() += 1;
    }
    for section in report["files"][0]["sections"].as_array().into_iter().flatten() {
        counts.described += section["functions"].as_u64().unwrap_or_default();
    }
    counts
}

#[test]
fn rebuilt_golden_files_have_the_same_rows() {
    let folder = folder("golden");
    let mut sums: BTreeMap<&str, Counts> = BTreeMap::new();
    // The files of one version of ld have all kinds of CFI, and those of all versions would take minutes.
    for path in
        golden(&["so", "exe"]).iter().filter(|path| path.iter().any(|part| part == "2.47.50"))
    {
        for (toolchain, outcome) in rebuild(path, &folder) {
            match outcome {
                Ok(counts) => sums.entry(toolchain).or_default().add(counts),
                Err(error) => assert!(is_known_failure(&error), "{path:?} by {toolchain}: {error}"),
            }
        }
    }
    for (toolchain, counts) in &sums {
        println!("{toolchain}: {counts:?}");
        assert!(counts.functions > 200 && counts.rows > 800, "{toolchain}: {counts:?}");
    }
}

/// Whether an assembler failed with one of the internal errors in `corpus/NOTES.md` and `corpus/differences`.
fn is_known_failure(error: &str) -> bool {
    error.contains("Internal error") || error.contains("SmallVector unable to grow")
}

/// Rebuilds the files in SFRAME_SYSTEM, separated by colons, or else large libraries and programs that most systems
/// have.
#[test]
#[ignore = "minutes: cargo test --release -p sframe-check --test reassemble -- --ignored --nocapture"]
fn system() {
    let libraries = ["libc.so.6", "libm.so.6", "libstdc++.so.6", "libcrypto.so.3", "libgcc_s.so.1"];
    let libraries = libraries.map(|name| format!("/usr/lib/x86_64-linux-gnu/{name}"));
    let programs = ["bash", "gdb", "git", "perl", "python3", "vim.basic", "perf", "node"];
    let programs = programs.map(|name| format!("/usr/bin/{name}"));
    let cross = ["aarch64", "s390x"].into_iter().flat_map(|machine| {
        ["libc.so.6", "libstdc++.so.6", "libm.so.6", "libasan.so.8", "libubsan.so.1"].map(|name| {
            let path = format!("target/toolchains/gcc-12/usr/{machine}-linux-gnu/lib/{name}");
            corpus().join("..").join(path).to_string_lossy().into_owned()
        })
    });
    let compilers = ["/usr/lib/gcc/x86_64-linux-gnu/12/cc1", "/lib64/ld-linux-x86-64.so.2"];
    let llvm = (13..30).map(|version| format!("/usr/lib/x86_64-linux-gnu/libLLVM-{version}.so.1"));
    let given = std::env::var("SFRAME_SYSTEM").ok().filter(|value| value.contains('/'));
    let paths: Vec<String> = match given {
        Some(paths) => paths.split(':').map(str::to_owned).collect(),
        None => {
            let compilers = compilers.into_iter().map(str::to_owned);
            libraries
                .into_iter()
                .chain(programs)
                .chain(compilers)
                .chain(cross)
                .chain(llvm)
                .collect()
        }
    };
    let folder = folder("system");
    let mut sums: BTreeMap<(&str, &str), (u64, Counts)> = BTreeMap::new();
    for path in paths.iter().map(Path::new).filter(|path| path.exists()) {
        let machine = machine_of(path);
        for (toolchain, outcome) in rebuild(path, &folder) {
            match outcome {
                Ok(counts) => {
                    println!("{}: {toolchain}: {counts:?}", path.display());
                    let sum = sums.entry((machine, toolchain)).or_default();
                    sum.0 += 1;
                    sum.1.add(counts);
                }
                Err(error) => {
                    println!("{}: {toolchain} fails", path.display());
                    assert!(is_known_failure(&error), "{path:?} by {toolchain}: {error}");
                }
            }
        }
    }
    for ((machine, toolchain), (files, counts)) in &sums {
        println!("{machine} {toolchain}: {files} files, {counts:?}");
    }
    assert!(!sums.is_empty(), "none of these files exists");
}

fn machine_of(path: &Path) -> &'static str {
    let data = fs::read(path).expect("readable");
    let file = object::File::parse(&*data).expect("ELF");
    Machine::of(&file).map_or("another machine", |machine| machine.name)
}
