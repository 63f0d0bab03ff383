//! Tests of the comparison with functions written by hand: SFrame and CFI divide the code differently, rows cannot be
//! read, or it is unknown where functions are. The expected verdicts are those of an unwinder that looks up each PC.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod common;

use common::by_hand::eh_frame;
use sframe_oracle::cfi::{Cfi, Kind};
use sframe_oracle::compare::{Fields, FunctionCounts, Sums, Totals, Verdict, compare};
use sframe_validator::elf::Elf;
use sframe_validator::section::StartRelocation;
use sframe_validator::unwind::{Cfa, CodeAddress, Frame, Recovery, Register};
use sframe_validator::write::elf::Image;
use sframe_validator::write::{FunctionBuilder, SectionBuilder};
use sframe_validator::{Abi, Placement, Section, Version};

/// The start of the code, which has 64 bytes.
const CODE: u64 = 0x1000;

/// An FDE: its offset in the code, its size, and its instructions. The CFA is SP+8 at first.
type Fde<'p> = (i64, u64, &'p [u8]);

/// A range that is reported: start, end, verdict, and whether CFI's frame is part of it.
type Found = (u64, u64, Verdict, bool);

const DIFFERENT: Verdict = Verdict::Different(Fields::CFA);
/// Instructions after which the CFA is SP+16 from the eighth byte on.
const LATER: &[u8] = &[0x48, 0x0e, 16];

fn sp(offset: i64) -> Frame {
    let cfa = Cfa::RegisterOffset { register: Register(7), offset };
    Frame { cfa, ra: Recovery::AtCfa(-8), fp: Recovery::Unchanged, ra_signed: false }
}

fn at(offset: i64, size: u32) -> FunctionBuilder {
    FunctionBuilder::new(CODE.wrapping_add_signed(offset), size)
}

/// A function whose CFA is SP+8.
fn plain(offset: i64, size: u32) -> FunctionBuilder {
    at(offset, size).row(0, sp(8))
}

fn compared(
    version: Version,
    functions: Vec<FunctionBuilder>,
    fdes: &[Fde<'_>],
) -> (Vec<Found>, Totals) {
    let mut builder = SectionBuilder::new(version, Abi::Amd64);
    for function in functions {
        builder.function(function);
    }
    // More rows follow, because the last rows of a section cannot be read by the shortcut for whole functions.
    let last = (0..8).fold(FunctionBuilder::new(0x9000, 8), |last, start| last.row(start, sp(8)));
    let built = builder.function(last).build().expect("a section");
    let section = Section::parse(&built.bytes, Placement::at(0)).expect("a section");
    of_section(section, fdes)
}

fn of_section(section: Section<'_>, fdes: &[Fde<'_>]) -> (Vec<Found>, Totals) {
    let fdes: Vec<_> = fdes
        .iter()
        .map(|(offset, size, program)| (CODE.wrapping_add_signed(*offset), *size, *program))
        .collect();
    let bytes = eh_frame(&fdes);
    let cfi = [Cfi::from_bytes(&bytes, Kind::EhFrame, 0x8000, Abi::Amd64)];
    let image = Image {
        abi: Abi::Amd64,
        code: CODE..CODE + 0x40,
        sframe: (&[], 0x4000),
        typed: true,
        eh_frame: None,
    };
    let file = image.bytes().expect("a file");
    let elf = Elf::parse(&file).expect("ELF");
    let mut found = Vec::new();
    let totals = compare(&elf, &[section], &cfi, |range| {
        if range.verdict != Verdict::Neither {
            let framed = range.cfi.is_some_and(|cfi| cfi.frame.is_some());
            found.push((range.start - CODE, range.end - CODE, range.verdict, framed));
        }
    });
    (found, totals)
}

fn counts(both: u64, partly: u64, only_cfi: u64, only_sframe: u64) -> FunctionCounts {
    FunctionCounts { both, partly, only_cfi, only_sframe, unplaced: 0 }
}

#[test]
fn code_is_divided_differently() {
    /// Both sides, the number of bytes on which they agree, the functions, and the ranges.
    type Case = (Vec<FunctionBuilder>, &'static [Fde<'static>], u64, FunctionCounts, Vec<Found>);
    let only = |start, end, verdict| (start, end, verdict, false);
    let cases: [Case; 9] = [
        (vec![plain(0, 32)], &[(0, 16, &[]), (16, 16, &[])], 32, counts(2, 0, 0, 0), vec![]),
        (vec![plain(0, 16), plain(16, 16)], &[(0, 32, &[])], 32, counts(1, 0, 0, 0), vec![]),
        (
            vec![plain(0, 32)],
            &[(0, 16, &[])],
            16,
            counts(1, 0, 0, 0),
            vec![only(16, 32, Verdict::OnlySframe)],
        ),
        (
            vec![plain(0, 16)],
            &[(0, 32, &[])],
            16,
            counts(0, 1, 0, 0),
            vec![only(16, 32, Verdict::OnlyCfi)],
        ),
        (
            vec![plain(16, 16)],
            &[(0, 32, &[])],
            16,
            counts(0, 1, 0, 0),
            vec![only(0, 16, Verdict::OnlyCfi)],
        ),
        (
            vec![plain(0, 32)],
            &[(16, 16, &[])],
            16,
            counts(1, 0, 0, 0),
            vec![only(0, 16, Verdict::OnlySframe)],
        ),
        // A function inside another one hides the rest of it, on both sides, and on one.
        (
            vec![plain(0, 32), plain(8, 8)],
            &[(0, 32, &[]), (8, 8, &[])],
            16,
            counts(2, 0, 0, 0),
            vec![],
        ),
        (
            vec![plain(0, 32)],
            &[(0, 32, &[]), (8, 8, &[])],
            16,
            counts(2, 0, 0, 0),
            vec![only(16, 32, Verdict::OnlySframe)],
        ),
        (
            vec![plain(0, 32), plain(8, 8)],
            &[(0, 32, &[])],
            16,
            counts(0, 1, 0, 0),
            vec![only(16, 32, Verdict::OnlyCfi)],
        ),
    ];
    for (functions, fdes, equal, counts, ranges) in cases {
        let (found, totals) = compared(Version::V2, functions, fdes);
        assert_eq!(found, ranges, "{fdes:?}");
        assert_eq!((totals.bytes.equal, totals.functions), (equal, counts), "{fdes:?}");
        assert_eq!(totals.bytes.total(), 0x40);
    }
}

/// A function may start before the code; its rows count from there.
#[test]
fn rows_count_from_the_start_of_their_own_function() {
    let later = |offset, size| plain(offset, size).row(8, sp(16));
    for (function, fde) in [(later(-8, 24), (0, 16, LATER)), (later(0, 16), (-8, 24, LATER))] {
        let (found, totals) = compared(Version::V2, vec![function], &[fde]);
        assert_eq!(found, [(0, 8, DIFFERENT, true)]);
        assert_eq!(totals.bytes.equal, 8);
    }
    let (found, totals) = compared(Version::V2, vec![later(0, 16)], &[(0, 16, LATER)]);
    assert_eq!((found, totals.bytes.equal), (vec![], 16));
}

#[test]
fn adjacent_ranges_with_equal_content_are_one() {
    // Two SFrame rows with the same frame, and two that differ.
    let functions = vec![plain(0, 16).row(8, sp(8))];
    let (found, _) = compared(Version::V2, functions, &[(0, 16, &[0x0e, 16])]);
    assert_eq!(found, [(0, 16, DIFFERENT, true)]);
    let functions = vec![plain(0, 16).row(8, sp(24))];
    let (found, _) = compared(Version::V2, functions, &[(0, 16, &[0x0e, 16])]);
    assert_eq!(found, [(0, 8, DIFFERENT, true), (8, 16, DIFFERENT, true)]);
    // If SFrame has nothing to compare with, the rows of CFI do not matter.
    let unreadable = vec![at(0, 16).raw_row(0, 0x63, &[8])];
    let (found, _) = compared(Version::V2, unreadable, &[(0, 16, LATER)]);
    assert_eq!(found, [(0, 16, Verdict::Undecided, false)]);
    let (found, _) = compared(Version::V2, vec![], &[(0, 16, LATER)]);
    assert_eq!(found, [(0, 16, Verdict::OnlyCfi, false)]);
}

#[test]
fn code_before_the_first_row_is_not_described() {
    let (found, totals) = compared(Version::V2, vec![at(0, 16).row(8, sp(16))], &[(0, 16, LATER)]);
    assert_eq!(found, [(0, 8, Verdict::OnlyCfi, false)]);
    assert_eq!((totals.bytes.equal, totals.functions), (8, counts(0, 1, 0, 0)));
    let (found, totals) = compared(Version::V2, vec![at(0, 16).row(8, sp(8))], &[(0, 16, &[])]);
    assert_eq!((found, totals.bytes.equal), (vec![(0, 8, Verdict::OnlyCfi, false)], 8));
    // Of two rows with one start, the last is valid.
    let functions = vec![plain(0, 16).row(8, sp(24)).row(8, sp(16))];
    assert_eq!(compared(Version::V2, functions, &[(0, 16, LATER)]).0, []);
    let functions = vec![plain(0, 16).row(8, sp(16)).row(8, sp(24))];
    let (found, _) = compared(Version::V2, functions, &[(0, 16, LATER)]);
    assert_eq!(found, [(8, 16, DIFFERENT, true)]);
    // A row out of order is valid only from the latest start before it on: a reader stops at the row at 12.
    let functions = vec![plain(0, 16).row(12, sp(24)).row(8, sp(16))];
    let (found, _) = compared(Version::V2, functions, &[(0, 16, LATER)]);
    assert_eq!(found, [(8, 12, DIFFERENT, true)]);
}

/// Info bytes with the undefined width 3 (`format`, "fre_info": bits 5 and 6). The row's start is readable, and the
/// rows after it cannot be found.
#[test]
fn unreadable_rows_are_undecided_from_their_start_on() {
    let functions = vec![plain(0, 16).raw_row(8, 0x63, &[8]).row(12, sp(8))];
    let (found, totals) = compared(Version::V2, functions, &[(0, 16, &[])]);
    assert_eq!(found, [(8, 16, Verdict::Undecided, false)]);
    assert_eq!(totals.bytes.equal, 8);
    // No reader finds a row that starts after the function's end.
    let (found, _) = compared(Version::V2, vec![at(0, 16).row(20, sp(8))], &[(0, 16, &[])]);
    assert_eq!(found, [(0, 16, Verdict::OnlyCfi, false)]);
}

/// In version 1, a row without words has no meaning (errata 2 of version 2 gives it one), but its length is known: the
/// row after it can be read.
#[test]
fn a_row_without_a_meaning_is_undecided_up_to_the_next() {
    let functions = vec![plain(0, 16).raw_row(4, 0x01, &[]).row(12, sp(8))];
    let (found, totals) = compared(Version::V1, functions, &[(0, 16, &[])]);
    assert_eq!(found, [(4, 12, Verdict::Undecided, false)]);
    assert_eq!(totals.bytes.equal, 8);
    // At the start and at the end of the function.
    let functions = vec![at(0, 16).raw_row(0, 0x01, &[]).row(4, sp(8)).raw_row(12, 0x01, &[])];
    let (found, totals) = compared(Version::V1, functions, &[(0, 16, &[])]);
    let wanted = [(0, 4, Verdict::Undecided, false), (12, 16, Verdict::Undecided, false)];
    assert_eq!((found.as_slice(), totals.bytes.equal), (wanted.as_slice(), 8));
}

/// A row extends to the start of the next one. The entry claims two rows, but the section ends after the first, so that
/// its end is unknown.
#[test]
fn the_end_of_a_row_before_a_missing_one_is_unknown() {
    for (claimed, wanted) in [(1, vec![]), (2, vec![(0, 16, Verdict::Undecided, false)])] {
        let mut builder = SectionBuilder::new(Version::V2, Abi::Amd64);
        builder.function(plain(0, 16).with(|stored| stored.num_fres = Some(claimed)));
        let built = builder.build().expect("a section");
        let section = Section::parse(&built.bytes, Placement::at(0)).expect("a section");
        assert_eq!(of_section(section, &[(0, 16, &[])]).0, wanted);
    }
}

/// `format`: a block of 0 bytes is undefined in version 2, and version 1 does not record the size.
#[test]
fn blocks_of_unknown_size() {
    let block = |function: FunctionBuilder| function.with(|stored| stored.info |= 0x10);
    // One block of 16 bytes that CFI confirms: the only one that has room for a row at 11, and divides 16.
    let functions = || vec![block(plain(0, 16).row(11, sp(16)))];
    let program: &[u8] = &[0x4b, 0x0e, 16];
    let (found, _) = compared(Version::V1, functions(), &[(0, 16, program)]);
    assert_eq!(found, []);
    let (found, _) = compared(Version::V2, functions(), &[(0, 16, program)]);
    assert_eq!(found, [(0, 16, Verdict::Undecided, false)]);
    // Rows out of order: a reader stops at the row at 12, and the last row is valid from there on.
    let out_of_order = plain(0, 16).row(12, sp(24)).row(8, sp(16));
    let program: &[u8] = &[0x4c, 0x0e, 16];
    let (found, _) = compared(Version::V1, vec![block(out_of_order)], &[(0, 16, program)]);
    assert_eq!(found, []);
    // Two rows with the same frame are right whatever the size of the block is.
    let same = vec![block(plain(0, 48).row(11, sp(8)))];
    let (found, totals) = compared(Version::V1, same, &[(0, 48, &[])]);
    assert_eq!((found, totals.bytes.equal), (vec![], 48));
}

/// The start of an SFrame function, which is unknown if it is `None`, and discarded if it is `Some(None)`; and its size.
type Placed = (Option<Option<i64>>, u32);

fn unplaced(functions: &[Placed], fdes: &[Fde<'_>]) -> Totals {
    let mut builder = SectionBuilder::new(Version::V2, Abi::Amd64);
    builder.relocatable();
    for (_, size) in functions {
        builder.function(FunctionBuilder::new(0, *size).row(0, sp(8)));
    }
    let built = builder.build().expect("a section");
    let starts: Vec<_> = functions
        .iter()
        .zip(&built.start_fields)
        .filter_map(|((start, _), field)| {
            let place = |offset| CodeAddress::absolute(CODE.wrapping_add_signed(offset));
            Some(StartRelocation { field_offset: *field, target: (*start)?.map(place) })
        })
        .collect();
    let section = Section::parse(&built.bytes, Placement::relocated(&starts)).expect("a section");
    of_section(section, fdes).1
}

/// A function whose start is unknown may be the one that CFI describes, if it has the same size, no other SFrame
/// function describes it, and nothing in its CFI keeps it out of SFrame.
#[test]
fn functions_with_unknown_starts_may_describe_code() {
    let unknown = (None, 16);
    let sums = |equal, only_cfi, undecided| Sums {
        equal,
        only_cfi,
        undecided,
        neither: 0x40 - equal - only_cfi - undecided,
        ..Sums::default()
    };
    let other_base: &[u8] = &[0x0c, 10, 0];
    let cases: [(&[Placed], &[Fde<'_>], Sums, u64); 9] = [
        (&[unknown], &[(8, 16, &[])], sums(0, 0, 16), 0),
        // Another size, and a CFA based on R10.
        (&[unknown], &[(8, 8, &[])], sums(0, 8, 0), 1),
        (&[unknown], &[(8, 16, other_base)], sums(0, 16, 0), 1),
        (&[unknown], &[(0, 16, &[]), (16, 8, &[]), (24, 16, &[])], sums(0, 8, 32), 1),
        // Another function describes a part of it, or code before or after it.
        (&[unknown, (Some(Some(8)), 4)], &[(8, 16, &[])], sums(4, 12, 0), 0),
        (&[unknown, (Some(Some(20)), 4)], &[(8, 16, &[])], sums(4, 12, 0), 0),
        (&[unknown, (Some(Some(0)), 8)], &[(0, 8, &[]), (8, 16, &[])], sums(8, 0, 16), 0),
        (&[unknown, (Some(Some(24)), 8)], &[(8, 16, &[]), (24, 8, &[])], sums(8, 0, 16), 0),
        // The code of a discarded function is nowhere.
        (&[(Some(None), 16)], &[(8, 16, &[])], sums(0, 16, 0), 1),
    ];
    for (functions, fdes, sums, lost) in cases {
        let totals = unplaced(functions, fdes);
        assert_eq!(totals.bytes, sums, "{functions:?} {fdes:?}");
        assert_eq!((totals.functions.only_cfi, totals.functions.unplaced), (lost, 1));
    }
}

#[test]
fn sums_are_added_field_by_field() {
    let bytes = |n: u64| Sums {
        equal: n,
        limited: 2 * n,
        different: 3 * n,
        only_cfi: 4 * n,
        only_sframe: 5 * n,
        neither: 6 * n,
        undecided: 7 * n,
    };
    let functions = |n: u64| FunctionCounts {
        both: n,
        partly: 2 * n,
        only_cfi: 3 * n,
        only_sframe: 4 * n,
        unplaced: 5 * n,
    };
    let (mut sums, mut counts) = (bytes(10), functions(10));
    sums += bytes(3);
    counts += functions(3);
    assert_eq!((sums, counts), (bytes(13), functions(13)));
    assert_eq!(sums.total(), 28 * 13);
}

#[test]
fn fields_are_a_set() {
    let both = Fields::CFA.with(Fields::FP);
    assert_eq!(both.with(Fields::FP), both);
    assert!(both.contains(Fields::CFA) && both.contains(both) && !Fields::CFA.contains(both));
    assert!(!both.contains(Fields::RA) && !both.contains(Fields::RA.with(Fields::FP)));
    assert!(Fields::default().is_empty() && !both.is_empty());
    let all = [
        (Fields::CFA, "cfa"),
        (Fields::RA, "ra"),
        (Fields::FP, "fp"),
        (Fields::RA_SIGNING, "ra-signing"),
        (Fields::UNDEFINED_RA, "undefined-ra"),
        (Fields::SIGNAL, "signal"),
    ];
    let set = all.iter().fold(Fields::default(), |set, (field, _)| set.with(*field));
    assert!(set.members().eq(all.map(|(field, _)| field)));
    assert!(set.names().eq(all.map(|(_, name)| name)));
    assert_eq!(both.to_string(), "cfa, fp");
    assert_eq!(Fields::RA.to_string(), "ra");
}
