//! Damaged files: no panic, and no section that cannot be read.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod common;

use common::with_section;
use sframe_oracle::cfi::Cfi;
use sframe_synthesis::{
    Encoding, Insertion, Place, account_of, assembly, diagnose, forecast, synthesize, what_if,
};
use sframe_validator::Section;
use sframe_validator::Version;
use sframe_validator::elf::{Elf, PT_GNU_SFRAME, SHT_GNU_SFRAME, SymbolTable};

/// Looks for what the file's sections could save.
fn size_up(data: &[u8]) {
    let Ok(elf) = Elf::parse(data) else { return };
    for sframe in elf.sframe_contents() {
        let (Ok(data), Ok(placement)) = (&sframe.data, sframe.placement()) else { continue };
        let Ok(section) = Section::parse(data, placement) else { continue };
        let _ = account_of(&section);
        if let Ok(diagnosis) = diagnose(&section, Some(&elf)) {
            let saved: u64 = diagnosis.savings.iter().map(|saving| saving.bytes).sum();
            assert_eq!(saved.cast_signed() + diagnosis.rest, diagnosis.saved());
        }
        let _ = what_if(&section);
    }
}

/// Adds a section to a file.
fn insert(data: &[u8]) {
    let Ok(elf) = Elf::parse(data) else { return };
    let Ok(cfi) = Cfi::load_all(&elf) else { return };
    let encoding = Encoding::Smallest(Version::V3);
    if let Ok(insertion) = Insertion::new(&elf)
        && let Ok(made) = synthesize(&elf, &cfi, encoding, insertion.place())
        && let Ok(file) = insertion.file(&made.written)
    {
        let contents = Elf::parse(&file).map(|elf| elf.sframe_contents().count());
        assert!(contents.is_err() || contents == Ok(1), "{contents:?}");
    }
}

/// Makes every kind of section from a file, and accounts for the one that it has.
fn make(data: &[u8]) -> u64 {
    let Ok(elf) = Elf::parse(data) else { return 0 };
    size_up(data);
    let Ok(cfi) = Cfi::load_all(&elf) else { return 0 };
    let mut made = 0;
    for encoding in Encoding::ALL {
        for place in [Place::of(&elf), Place::Linked(0)] {
            let Ok(synthesis) = synthesize(&elf, &cfi, encoding, place) else { continue };
            let functions = with_section(&synthesis, place, |section| section.entry_count());
            assert_eq!(functions as usize, synthesis.functions.len());
            let symbols = SymbolTable::load(&elf).unwrap_or_default();
            let _ = assembly(&elf, &symbols, &synthesis.written);
            made += 1;
        }
        let _ = forecast(&elf, &cfi, encoding);
    }
    made
}

/// Each byte of the CFI and of the headers in turn has another value.
#[test]
fn damaged_files_do_no_harm() {
    let mut made = 0;
    for name in ["2.47.50/x86_64/plt-ibt.so", "2.44/aarch64/cfi.o", "2.47.50/s390x/handwritten.so"]
    {
        let sound = sframe_corpus::read(&format!("golden/{name}"));
        let elf = Elf::parse(&sound).expect("ELF");
        let cfi = elf.sections().iter().find(|s| s.name.bytes() == b".eh_frame").expect("CFI");
        let cfi = usize::try_from(cfi.offset).expect("small")..;
        let places = (0..64).chain(cfi.clone().take(400)).chain(sound.len() - 200..sound.len());
        let mut data = sound.clone();
        for place in places.filter(|place| *place < sound.len()) {
            for value in [0xff, sound[place] ^ 1] {
                data[place] = value;
                made += make(&data);
            }
            data[place] = sound[place];
        }
    }
    assert!(made > 10_000, "only {made} sections");
}

/// Makes a file's section one that is not SFrame.
fn hide(data: &mut [u8]) {
    // They become PT_NULL and SHT_PROGBITS.
    for (kind, other) in [(PT_GNU_SFRAME, 0_u32), (SHT_GNU_SFRAME, 1)] {
        let kind = kind.to_le_bytes();
        if let Some(place) = data.windows(4).position(|bytes| bytes == kind) {
            data[place..place + 4].copy_from_slice(&other.to_le_bytes());
        }
    }
    let place = data.windows(8).position(|bytes| bytes == b".sframe\0").expect("a name");
    data[place + 1] = b'x';
    assert!(Insertion::new(&Elf::parse(data).expect("ELF")).is_ok());
}

/// Each byte of an SFrame section in turn has another value.
#[test]
fn damaged_sections_do_no_harm() {
    for name in ["2.47.50/x86_64/plt-ibt.so", "2.40/x86_64/plt.so", "2.47.50/aarch64/cfi.o"] {
        let mut data = sframe_corpus::read(&format!("golden/{name}"));
        let elf = Elf::parse(&data).expect("ELF");
        let section = elf.sframe_sections().next().expect("a section");
        let start = usize::try_from(section.offset).expect("small");
        let size = usize::try_from(section.size).expect("small");
        for place in start..start + size.min(600) {
            let sound = data[place];
            for value in [0, 0xff, sound ^ 1, sound ^ 0x10] {
                data[place] = value;
                size_up(&data);
            }
            data[place] = sound;
        }
    }
}

/// Each byte of an object without SFrame in turn has another value, and a section is added.
#[test]
fn damaged_objects_do_no_harm() {
    let mut data = sframe_corpus::read("golden/2.47.50/x86_64/leaf.o");
    hide(&mut data);
    for place in 0..data.len() {
        let sound = data[place];
        for value in [0, 0x7f, 0xff, sound ^ 1] {
            data[place] = value;
            insert(&data);
        }
        data[place] = sound;
    }
}

/// Each byte of the headers of a file without SFrame in turn has another value, and a section is added.
#[test]
fn damaged_headers_do_no_harm() {
    let mut data = sframe_corpus::read("golden/2.47.50/x86_64/plt.so");
    hide(&mut data);
    let length = data.len();
    for place in (0..600).chain(length - 1200..length) {
        let sound = data[place];
        for value in [0, 0x7f, 0xff, sound ^ 1] {
            data[place] = value;
            insert(&data);
        }
        data[place] = sound;
    }
}

/// Files that end anywhere.
#[test]
fn truncated_files_do_no_harm() {
    let sound = sframe_corpus::read("golden/2.47.50/x86_64/plt.so");
    for length in (0..sound.len()).step_by(29) {
        make(&sound[..length]);
    }
}
