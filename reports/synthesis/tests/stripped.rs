//! Programs with an added section still run after strip and objcopy of several GNU releases and of LLVM, and keep the section.
//! The truth is the processor's: a program that reads and writes all of its memory returns 0.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::path::{Path, PathBuf};
use std::process::Command;

use sframe_corpus::tools;
use sframe_oracle::cfi::Cfi;
use sframe_synthesis::{Encoding, Insertion, synthesize};
use sframe_validator::Version;
use sframe_validator::elf::{Elf, PT_GNU_SFRAME, PT_LOAD};

/// It writes to each page of data that starts with zeros, and to data of the thread.
const PROGRAM: &str = r"
#include <stdlib.h>
static char zeros[SIZE];
static int numbers[5000] = {1, 2, 3};
static __thread int local = 4;
int main(void) {
    char *heap = malloc(100000);
    for (int i = 0; i < 100000; i++) heap[i] = 1;
    int sum = 0;
    for (int i = 0; i < SIZE; i++) { sum += zeros[i]; zeros[i] = heap[i % 1000]; }
    for (int i = 0; i < SIZE; i++) sum += zeros[i];
    return sum == SIZE && numbers[2] + local == 7 ? 0 : 1;
}
";

fn add(data: &[u8]) -> Vec<u8> {
    let elf = Elf::parse(data).expect("ELF");
    let insertion = Insertion::new(&elf).expect("a place");
    let cfi = Cfi::load_all(&elf).expect("CFI");
    let encoding = Encoding::Smallest(Version::V3);
    let made = synthesize(&elf, &cfi, encoding, insertion.place()).expect("a section");
    insertion.file(&made.written).expect("a file")
}

/// The bytes of the section, which a loaded segment and PT_GNU_SFRAME contain.
fn section(name: &str, data: &[u8]) -> Vec<u8> {
    let elf = Elf::parse(data).expect("ELF");
    let own = elf.sframe_sections().next().unwrap_or_else(|| panic!("{name}: no section"));
    for kind in [PT_LOAD, PT_GNU_SFRAME] {
        let contains = elf.segments().iter().filter(|segment| segment.p_type == kind).any(|s| {
            own.address.wrapping_sub(s.address) == own.offset.wrapping_sub(s.offset)
                && s.offset <= own.offset
                && own.offset + own.size <= s.offset + s.file_size
        });
        assert!(contains, "{name}: {kind:#x}");
    }
    elf.section_data(own).expect("bytes").to_vec()
}

/// Runs a tool, and then the program that it has written, and the same once more on that program.
fn rewritten(folder: &Path, tool: &[&str], before: &[u8]) {
    let name = tool.join(" ");
    std::fs::write(folder.join("input"), before).expect("written");
    for time in ["once", "twice"] {
        let mut command = Command::new(tool[0]);
        let is_strip = tool[0].ends_with("strip");
        command.current_dir(folder).args(&tool[1..]).arg("input");
        let output = command.args(is_strip.then_some("-o")).arg("output").output();
        let output = output.expect("the tool runs");
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let status = Command::new(folder.join("output")).status().expect("it runs");
        assert_eq!(status.code(), Some(0), "{name}, {time}: {status}");
        let after = std::fs::read(folder.join("output")).expect("readable");
        assert_eq!(section(&name, &after), section("input", before), "{name}, {time}");
        std::fs::write(folder.join("input"), after).expect("written");
    }
}

#[test]
fn stripped_programs_still_run() {
    if !tools::is_installed("gcc") {
        return;
    }
    let folder = sframe_corpus::folder!("stripped");
    std::fs::write(folder.join("program.c"), PROGRAM).expect("written");
    let mut used = 0;
    // The sizes of the zeros end them in different parts of a page.
    for (flags, size) in [
        ("-pie -fPIE", 300_000),
        ("-pie -fPIE", 5_000),
        ("-no-pie -g", 9_000),
        ("-static -no-pie", 300_000),
        ("-static-pie -fPIE", 2_000),
        ("-pie -fPIE -Wl,-z,noseparate-code -Wl,-z,norelro", 7_000),
        ("-pie -fPIE -Wl,-z,max-page-size=0x200000", 4_000_000),
    ] {
        let compile = format!("gcc -O1 -DSIZE={size} program.c {flags} -o plain");
        assert!(tools::run(&folder, "gcc", &compile), "{flags}");
        let added = add(&std::fs::read(folder.join("plain")).expect("readable"));
        // The tools keep the permissions of their input.
        std::fs::copy(folder.join("plain"), folder.join("input")).expect("copied");
        for release in ["2.40", "2.44", "2.47.50", "llvm-23"] {
            let Some(tools) = tools::toolchain(release) else { continue };
            let prefix = if release == "llvm-23" { "llvm-" } else { "" };
            let path = |tool: &str| -> PathBuf { tools.join(format!("{prefix}{tool}")) };
            let [strip, objcopy] = [path("strip"), path("objcopy")];
            let [strip, objcopy] = [&strip, &objcopy].map(|path| path.to_str().expect("UTF-8"));
            // LLVM's refuse programs with relocations and without symbols, also without the section.
            let refuses = |tool: &&str| {
                let mut command = Command::new(tool);
                let output = command.current_dir(&folder).args(["plain", "output"]).output();
                !output.expect("the tool runs").status.success()
            };
            if flags == "-static -no-pie" && refuses(&objcopy) {
                assert_eq!(release, "llvm-23", "{flags}");
                continue;
            }
            rewritten(&folder, &[strip], &added);
            rewritten(&folder, &[strip, "-g"], &added);
            rewritten(&folder, &[objcopy], &added);
            used += 1;
        }
    }
    assert!(used == 27 || !tools::are_required(), "{used}");
}

/// GNU objcopy leaves an empty PT_GNU_SFRAME of a section that it removes, one that GNU ld has made or one that was added.
/// The program runs without the section, and can get another one.
#[test]
fn removed_sections_can_be_made_again() {
    let Some(binutils) = tools::toolchain("2.44") else { return };
    if !tools::is_installed("gcc") {
        return;
    }
    let folder = sframe_corpus::folder!("removed");
    std::fs::write(folder.join("program.c"), PROGRAM).expect("written");
    let gcc = format!("gcc -O1 -DSIZE=9000 -B{} program.c", binutils.display());
    assert!(tools::run(&folder, "gcc", &format!("{gcc} -o plain")));
    assert!(tools::run(&folder, "gcc", &format!("{gcc} -Wa,--gsframe -o linked")));
    let read = |name: &str| std::fs::read(folder.join(name)).expect("readable");
    let segments = |data: &[u8], kind: Option<u32>| {
        let elf = Elf::parse(data).expect("ELF");
        let segments = elf.segments().iter();
        segments.filter(|segment| kind.is_none_or(|kind| segment.p_type == kind)).count()
    };
    for release in ["2.40", "2.44", "2.47.50"] {
        let Some(binutils) = tools::toolchain(release) else { return };
        for (what, before) in [("linked", read("linked")), ("added", add(&read("plain")))] {
            let name = format!("{release}, {what}");
            assert!(tools::run(&folder, "gcc", "cp plain input"));
            std::fs::write(folder.join("input"), &before).expect("written");
            let objcopy = binutils.join("objcopy");
            let remove = format!("{} --remove-section .sframe input without", objcopy.display());
            assert!(tools::run(&folder, "gcc", &format!("{remove} && ./without")), "{name}");
            let without = read("without");
            let again = add(&without);
            for file in [&without, &again] {
                assert_eq!(segments(file, Some(PT_GNU_SFRAME)), 1, "{name}");
            }
            assert_eq!(segments(&again, None), segments(&without, None) + 1, "{name}");
            section(&name, &again);
            std::fs::write(folder.join("without"), &again).expect("written");
            assert!(tools::run(&folder, "gcc", "./without"), "{name}");
        }
    }
}
