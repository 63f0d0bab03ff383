//! Forecasts from a linked file without a section: what GNU ld makes of the same source with `--gsframe`, linked with and
//! without `--gc-sections`.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod common;

use std::path::Path;
use std::process::Command;

use common::assembler::{Assembler, assemblers};
use sframe_oracle::cfi::Cfi;
use sframe_synthesis::{Encoding, Forecaster};
use sframe_validator::Abi;
use sframe_validator::elf::Elf;

/// The call of a function in another library.
const fn call(abi: Abi) -> &'static str {
    match abi {
        Abi::Amd64 => "call g@PLT",
        Abi::S390x => "brasl %r14, g@PLT",
        Abi::Aarch64Big | Abi::Aarch64Little => "bl g",
    }
}

/// A function with CFI, one without, one whose CFI costs its entry, and one that nothing refers to.
fn sources(abi: Abi) -> [String; 4] {
    let call = call(abi);
    let head = "\t.text\n\t.globl f\n\t.type f, %function\nf:\n";
    let fp = abi.fp().0;
    let unused =
        "\t.section .text.unused, \"ax\", %progbits\n\t.cfi_startproc\n\t.zero 8\n\t.cfi_endproc\n";
    let described = format!(
        "{head}\t.cfi_startproc\n\t{call}\n\t.cfi_def_cfa_offset 176\n\t{call}\n\t.cfi_endproc\n"
    );
    [
        described.clone(),
        format!("{head}\t{call}\n"),
        format!(
            "{head}\t.cfi_startproc\n\t{call}\n\t.cfi_val_offset {fp}, 0\n\t{call}\n\t.cfi_endproc\n"
        ),
        described + unused,
    ]
}

/// Links an object into a library.
fn link(assembler: &Assembler, folder: &Path, object: &[u8], options: &[&str]) -> Vec<u8> {
    std::fs::write(folder.join("input.o"), object).expect("written");
    let mut command = Command::new(assembler.linker());
    command.args(["-shared", "-o", "linked.so", "input.o"]).args(options).current_dir(folder);
    assert!(command.status().expect("the linker runs").success());
    std::fs::read(folder.join("linked.so")).expect("written")
}

/// The size of the section; none if it is empty.
fn real(linked: &[u8]) -> Option<u64> {
    let elf = Elf::parse(linked).expect("ELF");
    elf.sframe_sections().map(|section| section.size).find(|size| *size > 0)
}

#[test]
fn links_are_as_forecast() {
    let folder = sframe_corpus::folder!("links");
    for assembler in assemblers(&folder) {
        for (number, text) in sources(assembler.abi).iter().enumerate() {
            let source = folder.join("input.s");
            std::fs::write(&source, text).expect("written");
            let plain = assembler.assemble(&source, &[]).expect("assembled");
            let object = assembler.assemble(&source, &["--gsframe"]).expect("assembled");
            for options in [&[][..], &["--gc-sections"]] {
                let plain = link(&assembler, &folder, &plain, options);
                let real = real(&link(&assembler, &folder, &object, options));
                let elf = Elf::parse(&plain).expect("ELF");
                let cfi = Cfi::load_all(&elf).expect("CFI");
                let encoding = Encoding::Gnu(assembler.release);
                let mut forecaster =
                    Forecaster::new(&[encoding]).with_gc_sections(!options.is_empty());
                let forecast = forecaster.forecast(&elf, &cfi).remove(0).expect("a forecast");
                let size = forecast.section.map(|section| section.size);
                assert_eq!(size, real, "{} {number} {options:?}", assembler.name());
            }
        }
    }
}
