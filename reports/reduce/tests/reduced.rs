//! The command `reduce` on large files with one bad function: the source is as short as one that a person wrote, and the
//! assembler's own tools show the defect in it.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::fs;
use std::path::{Path, PathBuf};

use sframe_corpus::program::{self, Outcome};
use sframe_corpus::{corpus, folder, tools};

/// The folder of a toolchain; `None` if it or the program is missing, and that is no failure.
fn toolchain(name: &str) -> Option<PathBuf> {
    if !program::path().exists() {
        tools::missing("sframe-check", "cargo build -p sframe-check");
        return None;
    }
    tools::toolchain(name)
}

/// Runs a shell command with the programs of a toolchain. Returns its output.
fn shell(folder: &Path, bin: &Path, command: &str) -> String {
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").expect("a path"));
    let mut shell = std::process::Command::new("sh");
    shell.args(["-e", "-c", command]).current_dir(folder).env("PATH", path);
    let output = shell.output().expect("sh runs");
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn reduce(folder: &Path, file: &Path, finding: &str, with: &Path) -> Outcome {
    let arguments = ["reduce", "--finding", finding, "-o", "small.s", "--with"].map(Path::new);
    let arguments: Vec<&Path> = arguments.into_iter().chain([with, file]).collect();
    program::run(folder, &arguments)
}

/// The source of a reduced finding.
fn reduced(folder: &Path, file: &Path, finding: &str, with: &Path) -> String {
    let outcome = reduce(folder, file, finding, with);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    fs::read_to_string(folder.join("small.s")).expect("text")
}

fn directives(source: &str) -> usize {
    source.lines().filter(|line| line.trim_start().starts_with(".cfi_")).count()
}

fn by_hand(id: &str) -> String {
    fs::read_to_string(corpus().join(format!("differences/{id}/input.s"))).expect("text")
}

/// A function without a defect.
fn sound(name: &str) -> String {
    format!(
        "\t.globl {name}\n\t.type {name}, @function\n{name}:\n\t.cfi_startproc\n\tpush %rbp\n\
         \t.cfi_def_cfa_offset 16\n\t.cfi_offset %rbp, -16\n\tmov %rsp, %rbp\n\
         \t.cfi_def_cfa_register %rbp\n\tleave\n\t.cfi_def_cfa %rsp, 8\n\tret\n\t.cfi_endproc\n\
         \t.size {name}, .-{name}\n"
    )
}

#[test]
fn one_bad_function_among_ten_is_reduced() {
    for version in ["2.40", "2.44", "2.47.50"] {
        let Some(bin) = toolchain(version) else { continue };
        let folder = folder!(format!("ten-{version}"));
        let before: String = (0..5).map(|number| sound(&format!("before{number}"))).collect();
        let after: String = (0..4).map(|number| sound(&format!("after{number}"))).collect();
        let bad = by_hand("register-in-place");
        fs::write(folder.join("ten.s"), format!("\t.text\n{before}{bad}{after}")).expect("space");
        let link = "x86_64-linux-gnu-as --gsframe -o ten.o ten.s; x86_64-linux-gnu-ld -shared -o ten.so ten.o";
        shell(&folder, &bin, link);
        let with = bin.join("x86_64-linux-gnu-as");
        let source = reduced(&folder, &folder.join("ten.so"), "register-in-place", &with);
        assert!(directives(&source) < directives(&bad), "{source}");
        // The offset and the register at one place are all that matters. Before the first instruction, they would be in the CIE.
        assert_eq!(
            source,
            "f:\n\t.cfi_startproc\n\tnop\n\t.cfi_def_cfa_offset 16\n\t.cfi_def_cfa_register %rbp\n\tnop\n\t.cfi_endproc\n"
        );
        let print = "x86_64-linux-gnu-as --gsframe -o small.o small.s; x86_64-linux-gnu-objdump --sframe small.o; \
                     x86_64-linux-gnu-readelf --debug-dump=frames-interp small.o";
        let printed = shell(&folder, &bin, print);
        let has = |row: &str| printed.lines().any(|line| line.trim_start().starts_with(row));
        assert!(has("0000000000000001  fp+8 "), "{printed}");
        assert!(has("0000000000000001 rbp+16 "), "{printed}");
    }
}

#[test]
fn a_defect_that_needs_another_function_is_reduced_with_it() {
    let Some(bin) = toolchain("2.47.50") else { return };
    let folder = folder!("with-another");
    let sqlite = tools::real_libraries().join("2.44/x86_64/sqlite3.so");
    if !sqlite.exists() {
        return tools::missing("real libraries", "corpus/build real");
    }
    let big = folder.join("big.s");
    let outcome = program::run(&folder, &[Path::new("reassemble"), &sqlite, Path::new("-o"), &big]);
    assert!(big.exists(), "{}", outcome.stderr);
    // Only its second function: another one has to make the CIE that it shares.
    let input = by_hand("restore-with-older-cie");
    let bad = input.split_once(".globl\tf").expect("a second function").1;
    let text = fs::read_to_string(&big).expect("text");
    fs::write(&big, format!("{text}\n\t.text\n\t.globl\tf{bad}")).expect("space");
    shell(&folder, &bin, "x86_64-linux-gnu-as --gsframe -o big.o big.s");
    let with = bin.join("x86_64-linux-gnu-as");
    let source = reduced(&folder, &folder.join("big.o"), "restore-with-older-cie", &with);
    assert_eq!(source.matches(".cfi_startproc").count(), 2, "{source}");
    assert!(directives(&source) <= directives(&input), "{source}");
}

#[test]
fn findings_of_other_machines_are_reduced() {
    let cases = [
        ("2.44", "aarch64", "remembered-in-place", "aarch64-linux-gnu-as", ".cfi_remember_state"),
        ("2.40", "aarch64_be", "frame-pointer-only", "aarch64-linux-gnu-as", ".cfi_offset x29"),
        ("2.47.50", "s390x", "odd-offset", "s390x-linux-gnu-as", ".cfi_def_cfa_offset"),
        ("llvm-23", "x86_64", "return-in-register", "llvm-mc", ".cfi_register %rip"),
    ];
    for (version, machine, id, assembler, needed) in cases {
        let Some(bin) = toolchain(version) else { continue };
        let folder = folder!(format!("machine-{machine}"));
        let file = corpus().join(format!("golden/{version}/{machine}/cfi.o"));
        let source = reduced(&folder, &file, id, &bin.join(assembler));
        assert!(directives(&source) <= directives(&by_hand(id)), "{source}");
        assert_eq!(source.matches(".cfi_startproc").count(), 1, "{source}");
        // What the defect is about, by the judgement in its folder.
        assert!(source.contains(needed), "{source}");
    }
}

#[test]
fn an_assembler_that_lacks_the_defect_is_named() {
    let Some(bin) = toolchain("2.47.50") else { return };
    let folder = folder!("lacks");
    let file = corpus().join("golden/2.44/x86_64/handwritten.so");
    let with = bin.join("x86_64-linux-gnu-as");
    let outcome = reduce(&folder, &file, "remembered-in-place", &with);
    assert_eq!(outcome.status, 2, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("not shown by GNU assembler"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("2.47.50"), "{}", outcome.stderr);
    assert!(!folder.join("small.s").exists() && !folder.join("small.md").exists());
}

/// What is printed for a file whose section is version 3, with these toolchains on the path, in this order.
fn with_path(folder: &Path, bins: &[&Path], finding: &str) -> Outcome {
    let file = corpus().join(format!("differences/{finding}/2.47.50.o"));
    let arguments = ["reduce", "--finding", finding, "-o", "small.s"].map(Path::new);
    let arguments: Vec<&Path> = arguments.into_iter().chain([file.as_path()]).collect();
    let path = std::env::join_paths(bins).expect("a path");
    let output = program::command(folder, &arguments).env("PATH", path).output();
    let output = output.expect("the program runs");
    Outcome {
        status: output.status.code().expect("not killed by a signal"),
        text: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

#[test]
fn the_assembler_that_writes_the_version_of_the_file_is_taken() {
    let names = ["2.40", "2.44", "llvm-23", "2.47.50"];
    let bins: Vec<PathBuf> = names.into_iter().filter_map(toolchain).collect();
    let [first, second, llvm, last] = bins.as_slice() else { return };
    let folder = folder!("version-of-the-file");
    let outcome = with_path(&folder, &[first, second, llvm, last], "register-in-place");
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(outcome.stderr.contains(" 2.47.50"), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("was not tried"), "{}", outcome.stderr);
    let page = fs::read_to_string(folder.join("small.md")).expect("text");
    assert!(page.contains("| SFrame version | 3 |"), "{page}");
    let outcome = with_path(&folder, &[first, second], "register-in-place");
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let note =
        "writes version 1: an assembler that writes version 3, as in the file, was not tried";
    assert!(outcome.stderr.contains(note), "{}", outcome.stderr);
}
