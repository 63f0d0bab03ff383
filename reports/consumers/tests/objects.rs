//! Sections of relocatable objects, after relocation. Expected places are GNU readelf's prints of `.rela.sframe`.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::fs;

use sframe_consumers::{Assessor, Objects, Relocated, Verdict, is_module, named};
use sframe_corpus::corpus;
use sframe_validator::elf::Elf;
use sframe_validator::unwind::CodeAddress;
use sframe_validator::{Placement, Section};

/// The section of a golden object, relocated.
fn relocated(name: &str, reader: Objects) -> Result<Relocated, &'static str> {
    let data = fs::read(corpus().join("golden").join(name)).expect("readable");
    of_file(&data, reader)
}

fn of_file(data: &[u8], reader: Objects) -> Result<Relocated, &'static str> {
    let elf = Elf::parse(data).expect("an ELF file");
    let sframe = elf.sframe_contents().next().expect("a section");
    let machine = elf.abi().expect("a machine of SFrame");
    Relocated::of(&elf, sframe.header.index, sframe.data.expect("bytes"), machine, reader)
}

/// Where the functions start, by the section's own fields.
fn starts(relocated: &Relocated) -> Vec<CodeAddress> {
    let input = relocated.input();
    let section = Section::parse(input.bytes, Placement::at(input.address)).expect("a section");
    let start = |function: sframe_validator::section::Function<'_>| {
        relocated.place(function.start().expect("a start").address)
    };
    section.functions().map(|function| start(function.expect("a function"))).collect()
}

fn in_text(offsets: &[u64]) -> Vec<CodeAddress> {
    offsets.iter().map(|address| CodeAddress { section: 1, address: *address }).collect()
}

#[test]
fn linkers_take_the_targets_of_relocations_for_starts() {
    let cases: [(&str, &[u64]); 3] = [
        ("2.47.50/x86_64/alloca.o", &[0, 0x40, 0x60]),
        ("2.44/x86_64/calls.o", &[0, 0x70]),
        ("2.47.50/aarch64/calls.o", &[0, 0x90]),
    ];
    for (name, offsets) in cases {
        let found = relocated(name, Objects::Inputs).expect("relocatable");
        assert_eq!(starts(&found), in_text(offsets), "{name}");
    }
}

#[test]
fn the_kernel_applies_relocations_as_they_are() {
    let found = relocated("2.47.50/x86_64/alloca.o", Objects::Modules).expect("relocatable");
    assert_eq!(starts(&found), in_text(&[0, 0x40, 0x60]));
    // GNU as 2.44 leaves to the linker what the distance from the section to the field is: 28 for the first entry.
    let found = relocated("2.44/x86_64/calls.o", Objects::Modules).expect("relocatable");
    let input = found.input();
    let section = Section::parse(input.bytes, Placement::at(input.address)).expect("a section");
    let first = section.functions().next().expect("a function").expect("readable");
    let (text, _) = input.text.expect("text");
    assert_eq!(first.start().expect("a start").address, text - 28);
}

#[test]
fn without_relocations_it_is_undecided_where_functions_start() {
    let found = relocated("2.47.50/x86_64/stripped.o", Objects::Inputs);
    assert_eq!(found.unwrap_err(), "the start of a function has no relocation");
}

#[test]
fn the_kernel_does_not_find_functions_that_modules_free() {
    let data = fs::read(corpus().join("golden/2.47.50/aarch64/calls.o")).expect("readable");
    let kernel = named("linux-arm64-kernel")[0];
    let verdict = |data: &[u8]| {
        let found = of_file(data, Objects::Modules).expect("relocatable");
        Assessor::new(found.input()).assess_object(kernel)
    };
    let core = verdict(&data);
    assert_eq!((core.verdict, core.functions.found), (Verdict::Accept, 2));
    let freed = verdict(&replaced(&data, ".text\0", ".init\0"));
    assert_eq!((freed.functions.found, freed.bytes.same), (0, 0));
    assert!(!is_module(&Elf::parse(&data).expect("an ELF file")));
}

/// The bytes with each occurrence of a text replaced by another one of the same length.
fn replaced(data: &[u8], from: &str, to: &str) -> Vec<u8> {
    let mut data = data.to_vec();
    assert_eq!(from.len(), to.len());
    for at in 0..=data.len() - from.len() {
        if data[at..].starts_with(from.as_bytes()) {
            data[at..at + to.len()].copy_from_slice(to.as_bytes());
        }
    }
    data
}
