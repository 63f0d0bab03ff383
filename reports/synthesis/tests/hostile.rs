//! Damaged files: no panic, and no section that cannot be read.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod common;

use common::with_section;
use sframe_oracle::cfi::Cfi;
use sframe_synthesis::{Encoding, Place, Release, account_of, forecast, synthesize};
use sframe_validator::Version;
use sframe_validator::elf::Elf;

const ENCODINGS: [Encoding; 6] = [
    Encoding::Smallest(Version::V1),
    Encoding::Smallest(Version::V2),
    Encoding::Smallest(Version::V3),
    Encoding::Gnu(Release::V2_40),
    Encoding::Gnu(Release::V2_44),
    Encoding::Gnu(Release::V2_47_50),
];

/// Makes every kind of section from a file, and accounts for the one that it has.
fn make(data: &[u8]) -> u64 {
    let Ok(elf) = Elf::parse(data) else { return 0 };
    for sframe in elf.sframe_contents() {
        let (Ok(data), Ok(placement)) = (&sframe.data, sframe.placement()) else { continue };
        let _ = sframe_validator::Section::parse(data, placement).map(|s| account_of(&s).is_ok());
    }
    let Ok(cfi) = Cfi::load_all(&elf) else { return 0 };
    let mut made = 0;
    for encoding in ENCODINGS {
        for place in [Place::of(&elf), Place::Linked(0)] {
            let Ok(synthesis) = synthesize(&elf, &cfi, encoding, place) else { continue };
            let functions = with_section(&synthesis, place, |section| section.entry_count());
            assert_eq!(functions as usize, synthesis.functions.len());
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

/// Files that end anywhere.
#[test]
fn truncated_files_do_no_harm() {
    let sound = sframe_corpus::read("golden/2.47.50/x86_64/plt.so");
    for length in (0..sound.len()).step_by(29) {
        make(&sound[..length]);
    }
}
