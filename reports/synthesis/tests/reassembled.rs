//! Predictions for the CFI of existing programs: each is written as assembly, which GNU as of each release makes into
//! an object with SFrame. The predictions from the CFI of that object and from the CFI of the linked program are
//! compared with it.
//!
//! `SFRAME_PROGRAMS` names other programs than the libraries of the toolchains.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{bytes_of, compare, print, with_section};
use sframe_corpus::tools;
use sframe_harness::reassemble::reassemble;
use sframe_oracle::cfi::Cfi;
use sframe_synthesis::{Encoding, Place, Release, synthesize};
use sframe_validator::elf::Elf;
use sframe_validator::unwind::CodeAddress;
use sframe_validator::{Abi, Section};

/// C and C++ libraries for each machine.
fn programs() -> Vec<PathBuf> {
    if let Ok(paths) = std::env::var("SFRAME_PROGRAMS") {
        return paths.split_whitespace().map(PathBuf::from).collect();
    }
    let libraries = [
        "2.44/usr/lib/x86_64-linux-gnu/libc.so.6",
        "gcc-12/usr/aarch64-linux-gnu/lib/libc.so.6",
        "gcc-12/usr/s390x-linux-gnu/lib/libc.so.6",
    ];
    libraries.iter().map(|path| tools::toolchains().join(path)).collect()
}

/// The name of an assembler for a machine.
const fn assembler(abi: Abi) -> &'static str {
    match abi {
        Abi::Amd64 => "as",
        Abi::S390x => "s390x-linux-gnu-as",
        Abi::Aarch64Big | Abi::Aarch64Little => "aarch64-linux-gnu-as",
    }
}

/// The number of functions outside the linker's stubs, and the bytes of their entries, attributes and rows. The linker
/// describes its stubs itself, and the reassembled ones are ordinary code.
fn outside_stubs(section: &Section<'_>, elf: &Elf<'_>) -> (usize, u64) {
    let is_wanted = |start: &CodeAddress| {
        let code = elf.code_section_at(*start);
        code.is_some_and(|section| !section.name.bytes().starts_with(b".plt"))
    };
    let starts = section.functions().map(|function| function.expect("readable").start());
    let starts: Vec<_> = starts.map(|start| start.expect("a start")).filter(is_wanted).collect();
    (starts.len(), bytes_of(section, &starts))
}

/// The functions and bytes outside stubs that are predicted from the CFI of the linked program.
fn rows_of_program(elf: &Elf<'_>, release: Release) -> (usize, u64) {
    let cfi = Cfi::load_all(elf).expect("CFI");
    let place = Place::of(elf);
    let made = synthesize(elf, &cfi, Encoding::Gnu(release), place).expect("a prediction");
    with_section(&made, place, |section| outside_stubs(section, elf))
}

/// Assembles a program with each release. Returns the number of objects that are as predicted; `None` if a tool is
/// missing.
fn assemble(folder: &Path, program: &Path) -> Option<usize> {
    let data = std::fs::read(program).expect("readable");
    let elf = Elf::parse(&data).expect("ELF");
    let abi = elf.abi().expect("a machine of SFrame");
    let mut text = Vec::new();
    let outcome = reassemble(&elf, "program", &mut text).expect("assembly");
    println!("{}: {} functions", program.display(), outcome.functions);
    let (source, object) = (folder.join("program.s"), folder.join("program.o"));
    std::fs::write(&source, &text).expect("written");
    let mut equal = 0;
    for release in Release::ALL.into_iter().filter(|release| release.supports(abi)) {
        let tools = tools::toolchain(release.name())?;
        let mut command = Command::new(tools.join(assembler(abi)));
        let output = command.args(["--gsframe", "-o"]).arg(&object).arg(&source).output();
        let output = output.expect("the assembler runs");
        if !output.status.success() {
            println!("{} gives up: {}", release.name(), String::from_utf8_lossy(&output.stderr));
            continue;
        }
        let data = std::fs::read(&object).expect("readable");
        let compared = compare(&data).expect("a section");
        print(&object, &compared, "");
        let name = format!("{} by {}", program.display(), release.name());
        let from_original = rows_of_program(&elf, release);
        let object = Elf::parse(&data).expect("ELF");
        let sframe = object.sframe_contents().next().expect("a section");
        let placement = sframe.placement().expect("relocations");
        let section = Section::parse(sframe.data.expect("bytes"), placement).expect("sound");
        assert_eq!(from_original, outside_stubs(&section, &object), "{name}: from the linked file");
        let accounts = (compared.predicted.parts, compared.real.parts);
        assert!(compared.is_equal(), "{name}: {accounts:?} {:x?}", compared.different);
        equal += 1;
    }
    Some(equal)
}

#[test]
fn sections_of_existing_programs_are_as_predicted() {
    let folder = sframe_corpus::folder!("reassembled");
    for path in programs() {
        if !path.exists() {
            tools::missing(&path.to_string_lossy(), "name files that exist");
        } else if let Some(equal) = assemble(&folder, &path) {
            assert!(equal > 0, "no assembler accepts {}", path.display());
        }
    }
}
