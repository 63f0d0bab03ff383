//! What sections could save: a section whose bytes were counted by hand, and the golden files, whose smallest sections
//! break no rule and say the same at every PC.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod common;

use std::collections::BTreeMap;

use common::with_section;
use sframe_oracle::diff::{Change, Matching, Set, Source, diff};
use sframe_synthesis::{Diagnosis, Place, Waste, WhatIf, diagnose, smallest_of, what_if};
use sframe_validator::check::Checker;
use sframe_validator::elf::{Elf, ElfKind, SHF_ALLOC, SHF_EXECINSTR, SymbolTable};
use sframe_validator::section::Starts;
use sframe_validator::write::elf::{ElfWriter, SectionHeader};
use sframe_validator::{Abi, Placement, Section, Version};

/// Rules that a table breaks which is not sorted, has a place twice, or is only the first of several.
const TABLE: [&str; 4] =
    ["concatenated-section", "function-overlap", "function-order", "function-duplicate"];

fn words(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// The header of a section of version 3 for AMD64 (V3 2.1): flags for a sorted table and for starts that count from
/// their fields; RA at CFA - 8.
fn header(functions: u32, rows: u32, row_bytes: u32) -> Vec<u8> {
    let mut bytes = vec![0xe2, 0xde, 3, 5, 3, 0, 0xf8, 0];
    bytes.extend(words(&[functions, rows, row_bytes, 0, functions * 16]));
    bytes
}

/// The index entry of the function number `index` (V3 2.2).
fn entry(bytes: &mut Vec<u8>, (index, start): (i64, i64), size: u32, rows: u32) {
    bytes.extend((start - 28 - 16 * index).to_le_bytes());
    bytes.extend(words(&[size, rows]));
}

/// Counts bytes for (waste, bytes, count).
fn savings(diagnosis: &Diagnosis) -> Vec<(Waste, u64, u64)> {
    let savings = diagnosis.savings.iter();
    savings.map(|saving| (saving.waste, saving.bytes, saving.count)).collect()
}

/// Written by hand from the format's tables (V3 2.1 to 3.2), with one waste of each kind.
fn wasteful() -> Vec<u8> {
    let mut rows = Vec::new();
    // 5 bytes of attributes and 3 rows with starts of 2 bytes: the second one has words of 2 bytes, and the third one
    // repeats its frame. Only 11 of the 20 bytes of rows are needed: the third row costs 5 bytes, the starts 2, the
    // words 2.
    rows.extend([3, 0, 1, 0, 0]);
    rows.extend([0, 0, 3, 8]);
    rows.extend([1, 0, 5 | 0x20, 16, 0, 0xf0, 0xff]);
    rows.extend([4, 0, 5, 16, 0xf0]);
    // At 21: a flexible function whose CFA is RSP + 8: control word 0x39 (register 7 times 8, plus 1), and 8. One word
    // would be enough.
    assert_eq!(rows.len(), 21);
    rows.extend([1, 0, 0, 1, 0]);
    rows.extend([0, 4, 0x39, 8]);
    // At 30: a function without code, with one row of 3 bytes.
    assert_eq!(rows.len(), 30);
    rows.extend([1, 0, 0, 0, 0]);
    rows.extend([0, 3, 8]);
    assert_eq!(rows.len(), 38);
    let mut bytes = header(3, 5, 38);
    entry(&mut bytes, (0, 0x1000), 16, 0);
    entry(&mut bytes, (1, 0x1010), 16, 21);
    entry(&mut bytes, (2, 0x1020), 0, 30);
    bytes.extend(rows);
    // Two bytes that belong to nothing.
    bytes.extend([0, 0]);
    bytes
}

#[test]
fn savings_are_those_counted_by_hand() {
    let bytes = wasteful();
    let section = Section::parse(&bytes, Placement::at(0)).expect("sound");
    let diagnosis = diagnose(&section, None).expect("readable");
    assert_eq!(diagnosis.account.size, 28 + 48 + 38 + 2);
    let expected = [
        (Waste::Unused, 2, 1),
        (Waste::EmptyFunctions, 16 + 5 + 3, 1),
        (Waste::RedundantRows, 5, 1),
        (Waste::WideStarts, 2, 1),
        (Waste::WideWords, 2, 1),
        (Waste::FlexibleRows, 1, 1),
    ];
    assert_eq!(savings(&diagnosis), expected);
    assert_eq!((diagnosis.saved(), diagnosis.rest), (36, 0));
    let made = smallest_of(&section, None).expect("readable");
    // These functions, written by hand as small as possible.
    let mut small = header(2, 3, 20);
    entry(&mut small, (0, 0x1000), 16, 0);
    entry(&mut small, (1, 0x1010), 16, 12);
    small.extend([2, 0, 0, 0, 0, 0, 3, 8, 1, 5, 16, 0xf0]);
    small.extend([1, 0, 0, 0, 0, 0, 3, 8]);
    assert_eq!(made.written.bytes, small);
}

/// The estimates for the same section, by hand.
#[test]
fn estimates_are_those_counted_by_hand() {
    let bytes = wasteful();
    let section = Section::parse(&bytes, Placement::at(0)).expect("sound");
    let estimate = what_if(&section).expect("readable");
    let changes =
        |estimate: &WhatIf| estimate.changes().map(|(_, change)| (change.before, change.after));
    let expected = [
        // No block repeats.
        (38, 38),
        // An anchor of 12 bytes; 0x1000 takes 2 bytes, two distances of 16 take 1 each.
        (24, 16),
        (12, 3),
        // Three starts of 2 bytes and two of 1.
        (8, 5),
        // Four info bytes, 2 bits for each of 5 rows.
        (5, 6),
        // 5 info bytes and 1 + 4 + 2 + 2 + 1 bytes of words. The table leaves out the second CFA = SP + 8.
        (15, 13 + 5),
        // Two pairs of info bytes differ from (0, 0): (1, 0) and (0, 1).
        (9, 3 + 9),
    ];
    assert_eq!(changes(&estimate), expected);
    let doubled = changes(&(estimate + estimate));
    assert_eq!(doubled, expected.map(|(before, after)| (2 * before, 2 * after)));
}

/// Four stubs, described one by one, of which each pushes in its second instruction. The section says that they are in
/// `.plt`.
#[test]
fn stubs_become_a_block() {
    let mut bytes = header(4, 8, 4 * 11);
    for index in 0..4 {
        let number = u32::try_from(index).expect("small");
        entry(&mut bytes, (index, 0x1000 + 16 * index), 16, 11 * number);
    }
    for _ in 0..4 {
        // CFA = SP + 8 from 0, and SP + 16 from 11.
        bytes.extend([2, 0, 0, 0, 0, 0, 3, 8, 11, 3, 16]);
    }
    let section = Section::parse(&bytes, Placement::at(0)).expect("sound");
    let made = |name| {
        let mut file = ElfWriter::new(Abi::Amd64, ElfKind::Shared);
        let header = SectionHeader {
            sh_type: 1,
            flags: SHF_ALLOC | SHF_EXECINSTR,
            address: 0x1000,
            alignment: 16,
            ..SectionHeader::default()
        };
        file.section_of(name, &[0x90; 64], header);
        file.finish().expect("small")
    };
    for (name, expected) in
        [(".plt", vec![(Waste::StubBlocks, 3 * (16 + 11), 4)]), (".text", vec![])]
    {
        let file = made(name);
        let elf = Elf::parse(&file).expect("ELF");
        let diagnosis = diagnose(&section, Some(&elf)).expect("readable");
        assert_eq!((savings(&diagnosis), diagnosis.rest), (expected, 0), "{name}");
    }
    let file = made(".plt");
    let made = smallest_of(&section, Some(&Elf::parse(&file).expect("ELF"))).expect("readable");
    // One function of 64 bytes whose rows repeat in each 16.
    let mut small = header(1, 2, 11);
    entry(&mut small, (0, 0x1000), 64, 0);
    small.extend([2, 0, 0x10, 0, 16, 0, 3, 8, 11, 3, 16]);
    assert_eq!(made.written.bytes, small);
}

/// The smallest section breaks no rule that the section keeps, says the same at every PC, and the savings add up.
#[test]
fn smallest_sections_say_the_same() {
    let mut total = BTreeMap::new();
    let (mut seen, mut clean, mut before, mut after) = (0, 0, 0, 0);
    for path in sframe_corpus::golden(&["o", "so", "exe"]) {
        let data = std::fs::read(&path).expect("readable");
        let Ok(elf) = Elf::parse(&data) else { continue };
        let symbols = SymbolTable::load(&elf).unwrap_or_default();
        for sframe in elf.sframe_contents() {
            let (Ok(data), Ok(placement)) = (&sframe.data, sframe.placement()) else { continue };
            let Ok(section) = Section::parse(data, placement) else { continue };
            let name = path.display();
            let diagnosis = match diagnose(&section, Some(&elf)) {
                Ok(diagnosis) => diagnosis,
                // Objects without relocations, and with the wrong ones of `ld -r`.
                Err(error) => {
                    let is_known =
                        ["stripped", "relocatable"].iter().any(|o| name.to_string().contains(o));
                    assert!(is_known, "{name}: {error}");
                    continue;
                }
            };
            assert_eq!(diagnosis.rest, 0, "{name}");
            let made = smallest_of(&section, Some(&elf)).expect("made before");
            let place = match section.placement().starts {
                Starts::Linked => Place::Linked(section.placement().address),
                Starts::Relocated(_) => Place::Relocatable,
            };
            with_section(&made, place, |small| {
                let [old, new] = [&section, small].map(|section| {
                    Checker::default().section(section.data(), *section.placement())
                });
                // The tables of other linkers are not sorted, and have functions that overlap: sorting them changes
                // what a reader finds.
                if old.counts.iter().any(|(rule, count)| *count > 0 && TABLE.contains(&rule.name)) {
                    return;
                }
                for (rule, count) in new.counts.iter() {
                    let had = old.counts.iter().find(|(other, _)| other.name == rule.name);
                    assert!(count <= had.map_or(&0, |(_, had)| had), "{name}: {}", rule.name);
                }
                clean += 1;
                let set = |sections| Set {
                    source: Source::Sframe(sections),
                    elf: &elf,
                    symbols: &symbols,
                };
                let (a, b) = ([section], [*small]);
                let sums = diff(&set(&a), &set(&b), Matching::Address, |range| {
                    // Version 1 does not record the size of repeated blocks, so neither section has a frame.
                    let frames = [range.first, range.second].map(|side| side?.frame);
                    let is_unknown = range.change == Change::Undecided && frames == [None, None];
                    assert!(
                        is_unknown && section.header().version == Version::V1,
                        "{name}: {range:?}"
                    );
                });
                assert!(sums.equal > 0 || diagnosis.smallest.functions == 0, "{name}");
            });
            for saving in &diagnosis.savings {
                *total.entry(saving.waste).or_insert(0) += saving.bytes;
            }
            seen += 1;
            before += diagnosis.account.size;
            after += diagnosis.smallest.size;
        }
    }
    println!(
        "{seen} sections, {clean} with a sound table, {before} bytes, {after} in the smallest sections"
    );
    println!("{total:?}");
    assert!(seen > 400 && clean > 380, "only {seen} sections, {clean} with a sound table");
}
