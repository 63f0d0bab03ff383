//! Hostile files, and files on which a repair has nothing to do.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::collections::BTreeMap;

use sframe_corpus::{corpus, files, golden, read};
use sframe_repair::{Change, RepairError, repair};
use sframe_validator::check::Checker;
use sframe_validator::elf::{Elf, PT_GNU_SFRAME};

/// No malformed file makes the repair panic, and what it returns breaks no other rules than the file did. Bytes and sizes
/// outside the section's place stay as they are.
#[test]
fn malformed_files_are_refused_or_repaired() {
    let mut results = BTreeMap::<String, u32>::new();
    for path in files(&corpus().join("malformed")) {
        let file = std::fs::read(&path).expect("readable");
        let name = path.strip_prefix(corpus()).expect("inside").display().to_string();
        let result = match repair(&file) {
            Err(error) => {
                assert!(!error.to_string().is_empty());
                format!("{error:?}").split([' ', '(']).next().expect("a word").to_owned()
            }
            Ok(repaired) => {
                let is_longer = repaired.changes.contains(&Change::SegmentAdded);
                assert_eq!(repaired.bytes.len() > file.len(), is_longer, "{name}");
                println!("{name}: {:?} {:?}", repaired.changes, repaired.lost);
                let changed = repaired.bytes != file;
                assert_eq!(changed, !repaired.changes.is_empty(), "{name}");
                if let Ok(again) = repair(&repaired.bytes) {
                    assert_eq!(again.changes, [], "{name}");
                }
                if changed { "repaired".to_owned() } else { "unchanged".to_owned() }
            }
        };
        *results.entry(result).or_default() += 1;
    }
    println!("{results:?}");
    assert!(results.values().sum::<u32>() > 140, "{results:?}");
    assert!(results["repaired"] >= 1, "{results:?}");
}

/// Every prefix of a file, and the file with each byte of the section changed, is refused or repaired, without a panic.
#[test]
fn damaged_files_do_not_panic() {
    for name in
        ["lld/x86_64/v2-shared.so", "gold/x86_64/v1-relocatable.o", "2.44/x86_64/relocatable.o"]
    {
        let file = read(&format!("golden/{name}"));
        for length in (0..file.len()).step_by(97) {
            let _ = repair(&file[..length]);
        }
        let (offset, size) = {
            let elf = Elf::parse(&file).expect("ELF");
            let section = elf.sframe_sections().next().expect("a section");
            (
                usize::try_from(section.offset).expect("small"),
                usize::try_from(section.size).expect("small"),
            )
        };
        let mut refused = 0;
        for place in (offset..offset + size).step_by(3) {
            let mut damaged = file.clone();
            damaged[place] ^= 0x81;
            refused += u32::from(repair(&damaged).is_err());
        }
        assert!(refused > 50, "{name}: only {refused} refused");
    }
}

/// Files of linkers that know SFrame: the program header gets the size of the section, and the bytes of the section change
/// only where rows are redundant.
#[test]
fn files_of_gnu_ld_keep_their_functions() {
    let mut resized = 0;
    for path in golden(&["so", "exe"]) {
        let file = std::fs::read(&path).expect("readable");
        let name = path.display().to_string();
        if ["/lld/", "/gold/"].iter().any(|other| name.contains(other)) {
            continue;
        }
        let elf = Elf::parse(&file).expect("ELF");
        let repaired = match repair(&file) {
            Ok(repaired) => repaired,
            Err(RepairError::NoSection | RepairError::EmptySection) => continue,
            Err(error) => panic!("{name}: {error}"),
        };
        let after = Elf::parse(&repaired.bytes).expect("ELF");
        let section = after.sframe_sections().next().expect("a section");
        if section.size == 0 {
            assert_eq!(repaired.changes.len(), 1, "{name}");
            continue;
        }
        let of_sframe = after.segments().iter().find(|segment| segment.p_type == PT_GNU_SFRAME);
        let segment = of_sframe.expect("a program header");
        assert_eq!(
            (segment.file_size, segment.memory_size),
            (section.size, section.size),
            "{name}"
        );
        assert_eq!(repaired.lost, [], "{name}");
        let functions = |elf: &Elf<'_>| Checker::default().elf(elf).sections[0].functions;
        println!("{name}: {:?}", repaired.changes);
        let emptied = repaired
            .changes
            .iter()
            .filter(|change| matches!(change, Change::EmptyFunctionRemoved { .. }));
        assert_eq!(functions(&elf), functions(&after) + emptied.count() as u64, "{name}");
        resized += u32::from(
            repaired.changes.iter().any(|change| matches!(change, Change::SegmentResized { .. })),
        );
    }
    assert!(resized > 50, "only {resized} program headers changed");
}

/// GNU ld 2.47.50 gives an empty section a program header of 0x94 bytes (`readelf -lSW`), which lead readers to other data.
#[test]
fn program_headers_of_empty_sections_are_removed() {
    let file = read("golden/2.47.50/x86_64/all-collected.exe");
    let repaired = repair(&file).expect("repaired");
    assert_eq!(repaired.changes, [Change::SegmentRemoved { from: 0x94 }]);
    let elf = Elf::parse(&repaired.bytes).expect("ELF");
    assert!(elf.segments().iter().all(|segment| segment.p_type != PT_GNU_SFRAME));
    assert_eq!(repair(&repaired.bytes), Err(RepairError::EmptySection));
    let different = file.iter().zip(&repaired.bytes).filter(|(old, new)| old != new).count();
    assert!(different <= 56, "{different} bytes differ");
}

/// The dynamic loader would change bytes that have moved. The file's section only lacks the flag for sorted functions, which
/// is in byte 3.
#[test]
fn sections_that_the_loader_changes_are_refused() {
    let mut file = read("malformed/dynamic-relocation/dynamic-relocation.elf");
    let offset = {
        let elf = Elf::parse(&file).expect("ELF");
        elf.sframe_sections().next().expect("a section").offset
    };
    file[usize::try_from(offset).expect("small") + 3] &= !1;
    assert_eq!(repair(&file), Err(RepairError::DynamicRelocations));
}
