//! Tests of finding the function and row of a PC.

use super::*;
use crate::unwind::CodeAddress;

#[test]
fn rows_end_where_the_next_one_starts() {
    // Rows at 0, 4, 4 and 20, in 16 bytes of code.
    let rows = rows(&one(Abi::Amd64, 4, 0, 0, &[0, 3, 8, 4, 3, 16, 4, 3, 24, 20, 3, 32]));
    let ranges: Vec<_> = rows.iter().map(|row| row.expect("readable")).collect();
    let ranges: Vec<_> = ranges.iter().map(|row| (row.start, row.end)).collect();
    assert_eq!(ranges, [(0x1000, 0x1004), (0x1004, 0x1004), (0x1004, 0x1010), (0x1014, 0x1014)]);
}

#[test]
fn the_last_of_several_rows_at_a_place_is_found() {
    let bytes = one(Abi::Amd64, 3, 0, 0, &[0, 3, 8, 4, 3, 16, 4, 3, 24]);
    let section = parse(&bytes);
    let cfa = |pc| section.find(pc).expect("readable").map(|(_, row)| row.frame.cfa);
    assert_eq!(cfa(0x1003), Some(sp(Abi::Amd64, 8)));
    assert_eq!(cfa(0x1004), Some(sp(Abi::Amd64, 24)));
    assert_eq!((cfa(0xfff), cfa(0x1010)), (None, None));
}

#[test]
fn before_the_first_row_nothing_is_found() {
    let bytes = one(Abi::Amd64, 1, 0, 0, &[4, 3, 8]);
    let section = parse(&bytes);
    assert!(section.find(0x1003).expect("readable").is_none());
    assert!(section.find(0x1004).expect("readable").is_some());
}

#[test]
fn repeated_blocks_are_looked_up_by_offset_in_the_block() {
    // Rows at 0 and 11 of a block of 8 * 2 bytes, in 64 bytes of stubs.
    let mut bytes = one(Abi::Amd64, 2, 0x10, 16, &[0, 3, 8, 11, 3, 16]);
    bytes[32] = 64;
    let section = parse(&bytes);
    let row = |pc| section.find(pc).expect("readable").expect("covered").1;
    assert_eq!((row(0x100a).start, row(0x100a).end), (0x1000, 0x100b));
    assert_eq!((row(0x103b).start, row(0x103b).end), (0x103b, 0x1040));
    assert_eq!(row(0x103b).frame.cfa, sp(Abi::Amd64, 16));
    assert!(section.find(0x1040).expect("readable").is_none());
}

#[test]
fn a_repeated_block_of_unknown_size_is_undecided() {
    let bytes = one(Abi::Amd64, 1, 0x10, 0, &[0, 3, 8]);
    let section = parse(&bytes);
    let error = section.find(0x1004).expect_err("no block size");
    assert_eq!((error.offset, error.kind), (28 + 17, ErrorKind::UnknownRepeatSize));
}

#[test]
fn functions_before_empty_ones_are_found_in_sorted_tables() {
    let mut out = header(2, 1, Abi::Amd64, [3, 3, 9, 0, 60]);
    entry2(&mut out, 0x1000, 16, [0, 1], [0, 0]);
    // Two functions of size 0 have the same start as the preceding one.
    entry2(&mut out, 0x1000, 0, [3, 1], [0, 0]);
    entry2(&mut out, 0x1000, 0, [6, 1], [0, 0]);
    out.u8(&[0, 3, 8, 0, 3, 16, 0, 3, 24]);
    let section = parse(&out.bytes);
    let (function, _) = section.find(0x1008).expect("readable").expect("covered");
    assert_eq!(function.index(), 0);
}

#[test]
fn unsorted_tables_are_searched_linearly() {
    let mut out = header(2, 0, Abi::Amd64, [2, 2, 6, 0, 40]);
    entry2(&mut out, 0x2000, 16, [0, 1], [0, 0]);
    entry2(&mut out, 0x1000, 16, [3, 1], [0, 0]);
    out.u8(&[0, 3, 8, 0, 3, 16]);
    let section = parse(&out.bytes);
    let index = |pc| section.find(pc).expect("readable").map(|(function, _)| function.index());
    assert_eq!((index(0x2000), index(0x100f), index(0x1800)), (Some(0), Some(1), None));
}

#[test]
fn objects_use_relocations_and_ignore_the_flag() {
    let mut out = header(2, 4, Abi::Amd64, [3, 3, 9, 0, 60]);
    for index in 0..3 {
        entry2(&mut out, 0x7777, 16, [index * 3, 1], [0, 0]);
    }
    out.u8(&[0, 3, 8, 0, 3, 16, 0, 3, 24]);
    let place = |section, address| CodeAddress { section, address };
    let relocations = [
        StartRelocation { field_offset: 28, target: Some(place(1, 0x10)) },
        StartRelocation { field_offset: 48, target: None },
    ];
    let section = Section::parse(&out.bytes, Placement::relocated(&relocations)).expect("header");
    let starts: Vec<_> = section.entries().map(|entry| entry.start()).collect();
    assert_eq!(starts[0], Ok(place(1, 0x10)));
    assert_eq!(starts[1].expect_err("R_*_NONE").kind, ErrorKind::Discarded);
    assert_eq!(starts[2].expect_err("none at 68").kind, ErrorKind::MissingRelocation);
    let found = section.find_function(place(1, 0x1f)).expect("readable").expect("covered");
    assert_eq!(found.index(), 0);
    assert!(section.find_function(place(2, 0x1f)).expect("readable").is_none());
}

#[test]
fn unreadable_headers_give_the_reason() {
    let sound = one(Abi::Amd64, 1, 0, 0, &[0, 3, 8]);
    let error = |bytes: &[u8]| Section::parse(bytes, Placement::at(0)).expect_err("no header");
    let truncated = |needed, available| ErrorKind::Truncated { needed, available };
    assert_eq!(error(&[]).kind, truncated(4, 0));
    assert_eq!(error(&sound[..27]).kind, truncated(28, 27));
    let mut bytes = sound.clone();
    bytes[0] = 0xe3;
    assert_eq!((error(&bytes).offset, error(&bytes).kind), (0, ErrorKind::BadMagic(0xdee3)));
    let mut bytes = sound.clone();
    bytes[2] = 9;
    assert_eq!((error(&bytes).offset, error(&bytes).kind), (2, ErrorKind::UnknownVersion(9)));
    let big = Placement::at(0).with_endian(Some(Endian::Big));
    let error = Section::parse(&sound, big).expect_err("little-endian bytes");
    assert_eq!(error.kind, ErrorKind::BadMagic(0xe2de));
}

#[test]
fn a_truncated_table_yields_its_complete_entries() {
    let mut bytes = one(Abi::Amd64, 1, 0, 0, &[0, 3, 8]);
    // The header states 4,294,967,295 functions, of which one exists.
    bytes[8..12].fill(0xff);
    let section = parse(&bytes);
    let functions: Vec<_> = section.functions().collect();
    assert_eq!(functions.len(), 2);
    assert!(functions[0].is_ok());
    let error = functions[1].expect_err("not in the section");
    assert_eq!(error.offset, 48);
    assert_eq!(error.kind, ErrorKind::Truncated { needed: 20, available: 3 });
}

#[test]
fn unknown_types_affect_only_their_function() {
    let mut out = header(2, 1, Abi::Amd64, [2, 2, 6, 0, 40]);
    entry2(&mut out, 0x1000, 16, [0, 1], [0x0f, 0]);
    entry2(&mut out, 0x2000, 16, [3, 1], [0, 0]);
    out.u8(&[0, 3, 8, 0, 3, 16]);
    let section = parse(&out.bytes);
    let error = section.find(0x1000).expect_err("FRE type 15");
    assert_eq!((error.offset, error.kind), (44, ErrorKind::UnknownFreType(15)));
    assert!(section.find(0x2000).expect("readable").is_some());
}

#[test]
fn an_unknown_abi_leaves_the_stored_rows_readable() {
    let mut bytes = one(Abi::Amd64, 1, 0, 0, &[0, 3, 8]);
    bytes[4] = 9;
    let section = parse(&bytes);
    let function = section.functions().next().expect("a function").expect("readable");
    assert_eq!(function.rows().expect_err("no meaning").kind, ErrorKind::UnknownAbi(9));
    assert_eq!(function.frame_row_entries().expect("ADDR1").count(), 1);
    let placement = Placement::at(0).with_abi(Some(Abi::Amd64));
    let section = Section::parse(&bytes, placement).expect("a header");
    assert!(section.find(0x1000).expect("readable").is_some());
}

#[test]
fn a_version_3_function_without_rows_is_outermost() {
    let info = |signal: u8| {
        let mut out = header(3, 5, Abi::Amd64, [1, 0, 5, 0, 16]);
        out.i64(0x1000 - 28).u32(&[16, 0]).u16(0).u8(&[signal, 0, 0]);
        out.bytes
    };
    // V3 1.2 makes no exception for signal frames.
    for signal in [0, 0x80] {
        let bytes = info(signal);
        let section = parse(&bytes);
        let (_, row) = section.find(0x100f).expect("readable").expect("covered");
        assert_eq!((row.start, row.end, row.frame), (0x1000, 0x1010, Frame::OUTERMOST));
    }
}

#[test]
fn rows_are_returned_by_reference() {
    // The second row's three words have no meaning on AMD64, and the fourth row's length is unknown.
    let bytes = [0, 3, 8, 0, 7, 0, 0, 0, 4, 3, 24, 6, 0x63, 8, 3, 32];
    let bytes = one(Abi::Amd64, 5, 0, 0, &bytes);
    let section = parse(&bytes);
    let function = section.functions().next().expect("a function").expect("readable");
    let mut rows = function.rows().expect("rows");
    let mut next = || {
        let row = rows.next_row().map_err(|error| (error.offset, error.kind))?;
        Ok(row.map(|row| (row.start, row.end, row.frame.cfa)))
    };
    assert_eq!(next(), Ok(Some((0x1000, 0x1000, sp(Abi::Amd64, 8)))));
    assert_eq!(next(), Err((52, ErrorKind::WordCount(3))));
    assert_eq!(next(), Ok(Some((0x1004, 0x1006, sp(Abi::Amd64, 24)))));
    assert_eq!(next(), Err((60, ErrorKind::ReservedWordSize)));
    assert_eq!((next(), next()), (Ok(None), Ok(None)));
}

/// The counts of these sections promise more than their bytes contain. The work must depend only on the bytes.
#[test]
fn shared_rows_are_read_once() {
    // 1000 functions that all point at one block of 65,535 rows: 65 million rows according to the counts.
    let (functions, count) = (1000_u32, 65_535_u32);
    let mut out = header(2, 1, Abi::Amd64, [functions, 0, count * 3, 0, functions * 20]);
    for index in 0..functions {
        let start = i32::try_from(index * 0x10000).expect("fits");
        entry2(&mut out, start, 0x10000, [0, count], [0, 0]);
    }
    for _ in 0..count {
        out.u8(&[0, 3, 8]);
    }
    let section = parse(&out.bytes);
    let mut budget = section.row_budget();
    let mut read = 0;
    let mut refused = 0;
    for function in section.functions() {
        for row in function.expect("readable").rows_within(&mut budget).expect("rows") {
            match row {
                Ok(_) => read += 1,
                Err(error) => {
                    assert_eq!(error.kind, ErrorKind::SharedRows);
                    refused += 1;
                }
            }
        }
    }
    assert_eq!((read, refused), (65_535, 999));
}

#[test]
fn no_prefix_of_a_section_makes_the_reader_panic() {
    let sections =
        [one(Abi::Amd64, 1, 0, 0, &[0, 3, 8]), flexible(Abi::S390x, &[0x79, 20, 0, 0x79, 0])];
    for bytes in sections {
        for length in 0..bytes.len() {
            let Ok(section) = Section::parse(&bytes[..length], Placement::at(0)) else { continue };
            let _ = section.find(0x1000);
            for function in section.functions().flatten() {
                let _ = function.rows().map(Iterator::count);
            }
        }
    }
}
