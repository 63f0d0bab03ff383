//! Forecasts that use what is known about a function's pattern, against forecasts that evaluate every function. The
//! other tests compare the latter with real sections.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::path::PathBuf;

use sframe_oracle::cfi::Cfi;
use sframe_synthesis::{Encoding, Forecaster, forecast};
use sframe_validator::elf::Elf;

/// Compares all forecasts of a file. Returns the number of functions with CFI.
fn compare(forecaster: &mut Forecaster, data: &[u8], name: &str) -> usize {
    let Ok(elf) = Elf::parse(data) else { return 0 };
    let Ok(cfi) = Cfi::load_all(&elf) else { return 0 };
    let all = forecaster.forecast(&elf, &cfi);
    assert_eq!(all.len(), Encoding::ALL.len());
    for (encoding, known) in Encoding::ALL.into_iter().zip(all) {
        assert_eq!(known, forecast(&elf, &cfi, encoding), "{name}, {encoding:?}");
    }
    cfi.iter().map(Cfi::len).sum()
}

/// Golden files of every machine and producer, real libraries, and the programs and libraries of the toolchains. The
/// forecaster remembers all of them.
#[test]
fn known_patterns_change_no_forecast() {
    let mut forecaster = Forecaster::new(&Encoding::ALL);
    let (mut files, mut functions) = (0, 0);
    let target = sframe_corpus::repository().join("target");
    let mut paths: Vec<PathBuf> = sframe_corpus::golden(&["o", "so", "exe", "elf", ""]);
    assert!(paths.len() > 100, "golden files");
    paths.extend(sframe_corpus::files(&target.join("real")));
    paths.extend(
        ["2.40", "2.44"].map(|release| target.join("toolchains").join(release).join("bin/as")),
    );
    for path in paths {
        let Ok(data) = std::fs::read(&path) else { continue };
        // Ten copies of two libraries add only time.
        if path.ends_with("big.so") {
            continue;
        }
        functions += compare(&mut forecaster, &data, &path.to_string_lossy());
        files += 1;
    }
    println!("{files} files, {functions} functions");
}

/// Each byte of the CFI in turn has another value, and what was learned from damaged functions stays.
#[test]
fn damaged_files_have_the_same_forecasts() {
    let mut forecaster = Forecaster::new(&Encoding::ALL);
    let mut functions = 0;
    for name in ["2.47.50/x86_64/plt-ibt.so", "2.44/aarch64/cfi.o", "2.47.50/s390x/handwritten.so"]
    {
        let sound = sframe_corpus::read(&format!("golden/{name}"));
        let elf = Elf::parse(&sound).expect("ELF");
        let cfi = elf.sections().iter().find(|s| s.name.bytes() == b".eh_frame").expect("CFI");
        let start = usize::try_from(cfi.offset).expect("small");
        let size = usize::try_from(cfi.size).expect("small");
        let mut data = sound.clone();
        for place in start..start + size.min(1200) {
            for value in [0, 0x40, 0x41, 0xff, sound[place] ^ 1, sound[place].wrapping_add(1)] {
                data[place] = value;
                functions += compare(&mut forecaster, &data, name);
            }
            data[place] = sound[place];
        }
    }
    assert!(functions > 10_000, "only {functions} functions");
}

/// Signal frames, and the same functions as ordinary ones, and as ones whose return addresses the B key signs: the
/// augmentation is `zRS`, `zRG` and `zRB`. Some bytes of instructions are `DW_CFA_GNU_args_size`, for which GNU as gives up;
/// 2.47.50 then writes an entry only for a signal frame.
#[test]
fn functions_with_other_augmentations_have_other_patterns() {
    let mut forecaster = Forecaster::new(&Encoding::ALL);
    let mut seen = 0;
    for path in sframe_corpus::golden(&["o", "so"]) {
        let sound = std::fs::read(&path).expect("readable");
        let found = sound.windows(4).position(|bytes| bytes == b"zRS\0");
        let Some(letter) = found.map(|place| place + 2) else { continue };
        let elf = Elf::parse(&sound).expect("ELF");
        let section = elf.sections().iter().find(|s| s.name.bytes() == b".eh_frame").expect("CFI");
        let end = usize::try_from(section.offset + section.size).expect("small");
        for place in letter..end.min(letter + 100) {
            let mut data = sound.clone();
            data[place] = 0x2e;
            for augmentation in *b"SGB" {
                data[letter] = augmentation;
                seen += compare(&mut forecaster, &data, &path.to_string_lossy());
            }
        }
    }
    assert!(seen > 0, "golden files have signal frames");
}
