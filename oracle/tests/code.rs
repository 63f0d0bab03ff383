//! The machine code against what compilers say about it: GCC and Clang know where they put things.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod common;

use std::path::Path;

use common::elf_files;
use sframe_oracle::cfi::Cfi;
use sframe_oracle::code::Code;
use sframe_oracle::compare::{ProofSums, prove};
use sframe_validator::elf::Elf;

/// The CFI of a file against its code: the sums, and a line for each range that the code refutes.
fn proof(file: &[u8]) -> Option<(ProofSums, Vec<String>)> {
    let elf = Elf::parse(file).ok()?;
    let cfi = Cfi::load_all(&elf).ok()?;
    let code = Code::of(&elf, &[], &cfi)?;
    let mut refuted = Vec::new();
    let proofs = prove(&code, &elf, &[], &cfi, |range| {
        let (start, end) = (range.start.address, range.end);
        if let Some(cfi) = range.cfi {
            refuted.push(format!("{start:#x}..{end:#x} {} {:?}", cfi.frame, range.truth));
        }
    });
    Some((proofs.cfi, refuted))
}

fn golden(tools: &str, file: &str) -> Vec<u8> {
    let path = Path::new("../corpus/golden").join(tools).join("x86_64").join(file);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every file of the corpus whose CFI a compiler or a linker wrote. The others are assembly made to be wrong: their directives
/// say what the instructions do not do.
#[test]
fn the_code_refutes_no_compiler() {
    let mut sums = ProofSums::default();
    let mut files = 0;
    for path in elf_files(Path::new("../corpus/golden")) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let by_hand = ["cfi.o", "handwritten.so", "signal.o", "words.o"];
        if by_hand.contains(&name) || name.ends_with("relocatable.o") {
            continue;
        }
        let data = std::fs::read(&path).expect("readable");
        let Some((of_file, refuted)) = proof(&data) else { continue };
        assert!(refuted.is_empty(), "{}: {refuted:#?}", path.display());
        sums += of_file;
        files += 1;
    }
    let share = sums.proven as f64 / sums.total() as f64;
    assert!(files > 100 && share > 0.9, "{files} files, {sums:?}");
}

/// Functions of the corpus whose directives lie, as `corpus/sources` says.
#[test]
fn the_code_refutes_directives_that_lie() {
    // `return_elsewhere`: nop, `.cfi_def_cfa_offset 16`, nop, ret. Nothing is pushed.
    let (_, refuted) = proof(&golden("2.44", "cfi.o")).expect("AMD64");
    let lie = refuted.iter().find(|line| line.starts_with("0x42..0x44 CFA=r7+16"));
    assert!(lie.is_some(), "{refuted:#?}");
}
