//! Predictions for the CFI of existing programs: each is written as assembly, which GNU as of each release makes into
//! an object with SFrame, and the prediction is made from the CFI of that object.
//!
//! `SFRAME_PROGRAMS` names other programs than the libraries of the toolchains.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{compare, print};
use sframe_corpus::tools;
use sframe_harness::reassemble::reassemble;
use sframe_synthesis::Release;
use sframe_validator::Abi;
use sframe_validator::elf::Elf;

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

/// Assembles a program with each release. Returns the number of objects that are as predicted; `None` if a tool is
/// missing.
fn assemble(folder: &Path, program: &Path) -> Option<usize> {
    let data = std::fs::read(program).expect("readable");
    let elf = Elf::parse(&data).expect("ELF");
    let abi = elf.abi().expect("a machine of SFrame");
    let mut text = Vec::new();
    let outcome = reassemble(&elf, "program", &mut text).expect("written").expect("assembly");
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
            tools::missing(&path.to_string_lossy());
        } else if let Some(equal) = assemble(&folder, &path) {
            assert!(equal > 0, "no assembler accepts {}", path.display());
        }
    }
}
