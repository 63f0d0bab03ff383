//! Sections that were made for this, one for each thing that a repair does or refuses. The expected starts are those from
//! which the sections were made.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use sframe_repair::{Change, Loss, RepairError, Repaired, repair};
use sframe_validator::elf::Elf;
use sframe_validator::section::Flags;
use sframe_validator::unwind::{Cfa, CodeAddress, Frame, Recovery};
use sframe_validator::write::elf::Image;
use sframe_validator::write::{FunctionBuilder, SectionBuilder};
use sframe_validator::{Abi, Section, Version};

const ADDRESS: u64 = 0x4000;

fn frame(offset: i64) -> Frame {
    let cfa = Cfa::RegisterOffset { register: Abi::Amd64.sp(), offset };
    Frame { cfa, ra: Recovery::AtCfa(-8), fp: Recovery::Unchanged, ra_signed: false }
}

/// A function with these rows: offsets from its start, and CFA offsets.
fn function(start: u64, size: u32, rows: &[(u32, i64)]) -> FunctionBuilder {
    let rows = rows.iter();
    rows.fold(FunctionBuilder::new(start, size), |made, (at, cfa)| made.row(*at, frame(*cfa)))
}

/// Sections that are appended to each other at multiples of 8, as assemblers mark them: unsorted.
fn appended(version: Version, parts: &[&[FunctionBuilder]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for part in parts {
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        let mut builder = SectionBuilder::new(version, Abi::Amd64);
        builder.address(ADDRESS + bytes.len() as u64);
        builder.with(|section| section.header.flags &= !Flags::SORTED);
        for function in *part {
            builder.function(function.clone());
        }
        bytes.extend(builder.build().expect("valid").bytes);
    }
    bytes
}

/// A file with code from 0x1000 to 0x2000.
fn file(section: &[u8]) -> Vec<u8> {
    let image = Image {
        abi: Abi::Amd64,
        code: 0x1000..0x2000,
        sframe: (section, ADDRESS),
        typed: true,
        eh_frame: None,
    };
    image.bytes().expect("small")
}

fn repaired(parts: &[&[FunctionBuilder]]) -> Result<Repaired, RepairError> {
    repair(&file(&appended(Version::V3, parts)))
}

/// Starts, sizes, and rows by offset and CFA offset.
type Functions = Vec<(u64, u32, Vec<(u32, i64)>)>;

/// The functions of the repaired section, which has to be sorted, and as long as its headers say.
fn functions(repaired: &Repaired) -> Functions {
    let elf = Elf::parse(&repaired.bytes).expect("ELF");
    let sframe = elf.sframe_contents().next().expect("a section");
    let data = sframe.data.expect("bytes");
    let section = Section::parse(data, sframe.placement().expect("linked")).expect("a header");
    assert_eq!(section.header().fre_end(), data.len() as u64);
    assert!(section.header().flags.sorted());
    let mut found = Functions::new();
    for function in section.functions().map(|function| function.expect("read")) {
        let mut rows = Vec::new();
        let mut read = function.rows().expect("rows");
        while let Some(row) = read.next_row().expect("a row") {
            let Cfa::RegisterOffset { offset, .. } = row.frame.cfa else { panic!("{row:?}") };
            let start = row.start - function.start().expect("linked").address;
            rows.push((u32::try_from(start).expect("small"), offset));
        }
        found.push((function.start().expect("linked").address, function.size(), rows));
    }
    assert!(found.is_sorted());
    found
}

#[test]
fn sections_are_merged_and_sorted() {
    let first = [function(0x1800, 16, &[(0, 8)]), function(0x1100, 32, &[(0, 8), (4, 24)])];
    let second = [function(0x1400, 8, &[(0, 16)])];
    let repaired = repaired(&[&first, &[], &second]).expect("repaired");
    let expected = vec![
        (0x1100, 32, vec![(0, 8), (4, 24)]),
        (0x1400, 8, vec![(0, 16)]),
        (0x1800, 16, vec![(0, 8)]),
    ];
    assert_eq!(functions(&repaired), expected);
    assert_eq!(repaired.changes[0], Change::Merged { sections: 3 });
    assert!(repaired.changes.contains(&Change::Sorted { functions: 3 }));
    assert_eq!(repaired.lost, []);
}

#[test]
fn redundant_rows_are_removed() {
    // Row 1 repeats row 0; row 3 replaces row 2; row 5 starts where the function ends.
    let rows = [(0, 8), (2, 8), (4, 16), (4, 24), (8, 300), (16, 8)];
    let repaired = repaired(&[&[function(0x1100, 16, &rows)]]).expect("repaired");
    assert_eq!(functions(&repaired), [(0x1100, 16, vec![(0, 8), (4, 24), (8, 300)])]);
    assert!(repaired.changes.contains(&Change::RowsRemoved { rows: 3 }));
}

#[test]
fn functions_are_described_once() {
    let (one, empty) = (function(0x1100, 16, &[(0, 8)]), function(0x1100, 0, &[(0, 8)]));
    let found = repaired(&[std::slice::from_ref(&one), &[one.clone(), empty]]).expect("repaired");
    assert_eq!(functions(&found), [(0x1100, 16, vec![(0, 8)])]);
    let start = CodeAddress::absolute(0x1100);
    assert!(found.changes.contains(&Change::DuplicateRemoved { start }));
    assert!(found.changes.contains(&Change::EmptyFunctionRemoved { start }));
    for other in [function(0x1100, 16, &[(0, 16)]), function(0x1100, 12, &[(0, 8)])] {
        let refused = repaired(&[std::slice::from_ref(&one), &[other]]);
        assert_eq!(refused, Err(RepairError::ConflictingFunctions { start }));
    }
}

/// Linkers resolve references to code that they dropped to 0 or 1.
#[test]
fn functions_without_code_are_lost() {
    let kept = function(0x1100, 16, &[(0, 8)]);
    let found = repaired(&[&[function(0, 16, &[(0, 8)])], &[kept]]).expect("repaired");
    assert_eq!(functions(&found), [(0x1100, 16, vec![(0, 8)])]);
    let start = CodeAddress::absolute(0);
    assert_eq!(found.lost, [Loss::OutsideCode { start, size: 16 }]);
    let none = repaired(&[&[function(0, 16, &[(0, 8)])]]);
    assert_eq!(none, Err(RepairError::NothingLeft));
}

/// Without CFI or symbols, nothing decides from where start fields count.
#[test]
fn start_fields_are_not_guessed() {
    let functions = [function(0x1100, 16, &[(0, 8)])];
    let mut from_section = SectionBuilder::new(Version::V1, Abi::Amd64);
    from_section.address(ADDRESS);
    from_section.with(|section| section.header.flags &= !Flags::SORTED);
    let bytes = from_section.function(functions[0].clone()).build().expect("valid").bytes;
    assert_eq!(repair(&file(&bytes)), Err(RepairError::WrongStarts { offset: 0 }));
}

#[test]
fn different_sections_are_not_merged() {
    let one = [function(0x1100, 16, &[(0, 8)])];
    let mut bytes = appended(Version::V3, &[&one]);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    let offset = bytes.len() as u64;
    bytes.extend(appended(Version::V2, &[&one]));
    assert_eq!(repair(&file(&bytes)), Err(RepairError::MixedSections { offset }));
}

#[test]
fn unknown_bytes_are_not_dropped() {
    let mut bytes = appended(Version::V3, &[&[function(0x1100, 16, &[(0, 8)])]]);
    let offset = bytes.len() as u64;
    bytes.extend([0, 0, 7, 0]);
    assert_eq!(repair(&file(&bytes)), Err(RepairError::UnknownBytes { offset }));
}

/// One function in each of many sections, in descending order, and many sections without functions.
#[test]
fn many_sections_are_merged() {
    let starts: Vec<u64> = (0..0x1000).rev().map(|index| 0x1000 + index).collect();
    let functions_of: Vec<_> =
        starts.iter().map(|start| [function(*start, 1, &[(0, 8)])]).collect();
    let mut parts: Vec<&[FunctionBuilder]> = functions_of.iter().map(<[_; 1]>::as_slice).collect();
    parts.extend(std::iter::repeat_n([].as_slice(), 30_000));
    let repaired = repaired(&parts).expect("repaired");
    assert_eq!(repaired.changes[0], Change::Merged { sections: 34_096 });
    let found = functions(&repaired);
    assert_eq!(found.len(), 0x1000);
    assert_eq!(found[0], (0x1000, 1, vec![(0, 8)]));
}
