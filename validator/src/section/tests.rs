//! Sections written by hand, byte by byte from the specifications' layouts, and what they mean.

#![allow(clippy::cast_possible_truncation, clippy::indexing_slicing, reason = "tests may panic")]

use std::vec;
use std::vec::Vec;

use super::*;
use crate::unwind::{Cfa, Frame, Recovery, Register, Row};

/// Bytes with the fields' widths, in a byte order.
struct Bytes {
    bytes: Vec<u8>,
    endian: Endian,
}

impl Bytes {
    fn u8(&mut self, values: &[u8]) -> &mut Bytes {
        self.bytes.extend(values);
        self
    }

    fn u16(&mut self, value: u16) -> &mut Bytes {
        match self.endian {
            Endian::Little => self.bytes.extend(value.to_le_bytes()),
            Endian::Big => self.bytes.extend(value.to_be_bytes()),
        }
        self
    }

    fn u32(&mut self, values: &[u32]) -> &mut Bytes {
        for value in values {
            match self.endian {
                Endian::Little => self.bytes.extend(value.to_le_bytes()),
                Endian::Big => self.bytes.extend(value.to_be_bytes()),
            }
        }
        self
    }

    fn i64(&mut self, value: i64) -> &mut Bytes {
        match self.endian {
            Endian::Little => self.bytes.extend(value.to_le_bytes()),
            Endian::Big => self.bytes.extend(value.to_be_bytes()),
        }
        self
    }
}

/// The header: version, flags, ABI with its fixed RA offset, then the counts and offsets.
fn header(version: u8, flags: u8, abi: Abi, counts: [u32; 5]) -> Bytes {
    let mut out = Bytes { bytes: Vec::new(), endian: abi.endian() };
    let fixed_ra = if abi == Abi::Amd64 { 0xf8 } else { 0 };
    out.u16(0xdee2).u8(&[version, flags, abi.id(), 0, fixed_ra, 0]).u32(&counts);
    out
}

/// A version 2 entry.
fn entry2(out: &mut Bytes, start: i32, size: u32, rows: [u32; 2], info: u8, rep: u8) {
    out.u32(&[start.cast_unsigned(), size, rows[0], rows[1]]).u8(&[info, rep]).u16(0);
}

/// A version 2 section of one function of 16 bytes at 0x1000, with the given rows.
fn one(abi: Abi, count: u32, info: u8, rep: u8, rows: &[u8]) -> Vec<u8> {
    let mut out = header(2, 1, abi, [1, count, rows.len() as u32, 0, 20]);
    entry2(&mut out, 0x1000, 16, [0, count], info, rep);
    out.u8(rows);
    out.bytes
}

/// A version 3 section of one flexible function with one row of 1-byte words.
fn flexible(abi: Abi, words: &[u8]) -> Vec<u8> {
    let info = (words.len() as u8) << 1;
    let length = 5 + 2 + words.len() as u32;
    let mut out = header(3, 5, abi, [1, 1, length, 0, 16]);
    out.i64(0x1000 - 28).u32(&[16, 0]);
    out.u16(1).u8(&[0, 1, 0]).u8(&[0, info]).u8(words);
    out.bytes
}

fn parse(bytes: &[u8]) -> Section<'_> {
    Section::parse(bytes, Placement::at(0)).expect("a header")
}

/// The rows of a section's only function, whose last bytes they are: the same whether the section
/// ends there or goes on.
fn rows(bytes: &[u8]) -> Vec<Result<Row, Error>> {
    let read = |bytes: &[u8]| -> Vec<_> {
        let section = parse(bytes);
        let function = section.functions().next().expect("a function").expect("readable");
        function.rows().expect("rows").collect()
    };
    let rows = read(bytes);
    let mut longer = bytes.to_vec();
    let length = parse(bytes).header().fre_len + 16;
    let length = match parse(bytes).endian() {
        Endian::Little => length.to_le_bytes(),
        Endian::Big => length.to_be_bytes(),
    };
    longer[16..20].copy_from_slice(&length);
    longer.extend([0xff; 16]);
    assert_eq!(read(&longer), rows);
    rows
}

fn only_frame(bytes: &[u8]) -> Result<Frame, Error> {
    rows(bytes)[0].map(|row| row.frame)
}

fn sp(abi: Abi, offset: i64) -> Cfa {
    Cfa::RegisterOffset { register: abi.sp(), offset }
}

fn register(number: u32, offset: i64) -> Recovery {
    Recovery::RegisterOffset { register: Register(number), offset }
}

fn kind(result: Result<Frame, Error>) -> (u64, ErrorKind) {
    let error = result.expect_err("an error");
    (error.offset, error.kind)
}

#[test]
fn version_1_entries_have_17_bytes() {
    let mut out = header(1, 1, Abi::Amd64, [2, 2, 6, 0, 34]);
    out.u32(&[0x1000, 16, 0, 1]).u8(&[0]);
    out.u32(&[0x2000, 32, 3, 1]).u8(&[0]);
    out.u8(&[0, 0x03, 8]).u8(&[0, 0x03, 24]);
    let section = parse(&out.bytes);
    let (function, row) = section.find(0x2010).expect("readable").expect("covered");
    assert_eq!((function.index(), function.size()), (1, 32));
    assert_eq!((row.start, row.end, row.frame.cfa), (0x2000, 0x2020, sp(Abi::Amd64, 24)));
}

#[test]
fn starts_count_from_the_section_or_from_the_field() {
    let start = |flags, address| {
        let mut out = header(2, flags, Abi::Amd64, [1, 0, 0, 0, 20]);
        entry2(&mut out, 0x100, 16, [0, 0], 0, 0);
        let section = Section::parse(&out.bytes, Placement::at(address)).expect("a header");
        let function = section.entry(0).expect("an entry");
        function.start().expect("linked").address
    };
    assert_eq!(start(0x1, 0x4000), 0x4100);
    assert_eq!(start(0x5, 0x4000), 0x4100 + 28);
}

#[test]
fn the_auxiliary_header_and_gaps_are_skipped() {
    let mut out = header(2, 1, Abi::Amd64, [1, 1, 3, 4, 28]);
    out.bytes[7] = 2;
    // Two auxiliary bytes, four before the table, four between table and rows, two behind.
    out.u8(&[0xaa; 6]);
    entry2(&mut out, 0x1000, 16, [0, 1], 0, 0);
    out.u8(&[0xbb; 4]).u8(&[0, 0x03, 8]).u8(&[0xcc; 2]);
    let section = parse(&out.bytes);
    assert_eq!(section.entry(0).expect("an entry").offset(), 28 + 2 + 4);
    let (_, row) = section.find(0x100f).expect("readable").expect("covered");
    assert_eq!(row.frame.cfa, sp(Abi::Amd64, 8));
}

#[test]
fn both_byte_orders_are_read() {
    // AArch64 big-endian, ADDR2 rows with 2-byte words: CFA = SP + 512, RA and FP saved, signed.
    let mut out = header(2, 1, Abi::Aarch64Big, [1, 1, 9, 0, 20]);
    entry2(&mut out, 0x1000, 0x400, [0, 1], 0x21, 0);
    out.u16(0x102).u8(&[0x80 | 1 << 5 | 3 << 1 | 1]).u16(512).u16(0xfff8).u16(0xfff0);
    let section = parse(&out.bytes);
    let (function, row) = section.find(0x13ff).expect("readable").expect("covered");
    assert!(function.attributes().info.pauth_key_b());
    let expected = Frame {
        cfa: sp(Abi::Aarch64Big, 512),
        ra: Recovery::AtCfa(-8),
        fp: Recovery::AtCfa(-16),
        ra_signed: true,
    };
    assert_eq!((row.start, row.end, row.frame), (0x1102, 0x1400, expected));
    assert_eq!(rows(&out.bytes), [Ok(row)]);
}

#[test]
fn wide_words_and_starts_are_signed_and_unsigned() {
    // ADDR4, 4-byte words: CFA = FP + 0x10000, FP at CFA - 0x20000, from 0x80000000 on.
    let mut out = header(2, 1, Abi::Amd64, [1, 1, 13, 0, 20]);
    entry2(&mut out, 0x1000, u32::MAX, [0, 1], 2, 0);
    out.u32(&[0x8000_0000]).u8(&[2 << 5 | 2 << 1]).u32(&[0x10000, (-0x20000_i32) as u32]);
    let row = rows(&out.bytes)[0].expect("readable");
    assert_eq!(row.start, 0x8000_1000);
    assert_eq!(row.frame.cfa, Cfa::RegisterOffset { register: Register(6), offset: 0x10000 });
    assert_eq!(row.frame.fp, Recovery::AtCfa(-0x20000));
    // The same widths in the other order: CFA = SP + 0x1000 * 8 + 160, RA at CFA - 0x20000.
    let mut out = header(2, 1, Abi::S390x, [1, 1, 13, 0, 20]);
    entry2(&mut out, 0x1000, u32::MAX, [0, 1], 2, 0);
    out.u32(&[0x8000_0000]).u8(&[2 << 5 | 2 << 1 | 1]).u32(&[0x1000, (-0x20000_i32) as u32]);
    let row = rows(&out.bytes)[0].expect("readable");
    assert_eq!((row.start, row.frame.cfa), (0x8000_1000, sp(Abi::S390x, 0x8000 + 160)));
    assert_eq!(row.frame.ra, Recovery::AtCfa(-0x20000));
}

#[cfg(feature = "elf")]
#[test]
fn short_rows_have_the_words_their_info_byte_counts() {
    for info in 0..=u8::MAX {
        // V3 2.4.1: bits 1 to 4 count words of 1, 2 or 4 bytes, by bits 5 and 6.
        let length = usize::from(info >> 1 & 0xf) << (info >> 5 & 3);
        let readable = info >> 5 & 3 != 3 && length <= 8;
        let mut bytes = one(Abi::Amd64, 1, 0, 0, &[0, info]);
        bytes[16] = 2 + 16;
        bytes.extend(0xf0..=0xff);
        let section = parse(&bytes);
        let function = section.functions().next().expect("a function").expect("readable");
        let entries = function.frame_row_entries().expect("rows");
        let words = entries.short().map(|row| (row.size, row.packed_words()));
        let all = 0xf7f6_f5f4_f3f2_f1f0_u128;
        let expected = (2 + length, (all & ((1 << (8 * length.min(8))) - 1)) as u64);
        assert_eq!(words, readable.then_some(expected), "{info:#x}");
    }
}

#[test]
fn s390x_scales_the_cfa_and_encodes_registers_in_version_2() {
    // Format sheet 1.7: stored = (offset - 160) / 8; an odd word is register * 2 + 1.
    let frame = |words: &[u8]| {
        let info = (words.len() as u8) << 1 | 1;
        let mut row = vec![0, info];
        row.extend(words);
        only_frame(&one(Abi::S390x, 1, 0, 0, &row)).expect("a meaning")
    };
    assert_eq!(frame(&[0]).cfa, sp(Abi::S390x, 160));
    assert_eq!(frame(&[20]).cfa, sp(Abi::S390x, 320));
    assert_eq!(frame(&[20]).ra, Recovery::Unchanged);
    let saved = frame(&[20, 0xd0, 0xb8]);
    assert_eq!((saved.ra, saved.fp), (Recovery::AtCfa(-48), Recovery::AtCfa(-72)));
    // RA not saved, FP in f0 (16).
    let register_saved = frame(&[0, 0, 33]);
    assert_eq!((register_saved.ra, register_saved.fp), (Recovery::Unchanged, register(16, 0)));
}

#[test]
fn aarch64_can_save_ra_alone() {
    let frame = only_frame(&one(Abi::Aarch64Little, 1, 0, 0, &[0, 0x05, 16, 0xf0]));
    let frame = frame.expect("a meaning");
    assert_eq!((frame.ra, frame.fp), (Recovery::AtCfa(-16), Recovery::Unchanged));
}

#[test]
fn flexible_rows_follow_their_control_words() {
    let frame = |words: &[u8]| only_frame(&flexible(Abi::Amd64, words)).expect("a meaning");
    let ra = Recovery::AtCfa(-8);
    let fp = |recovery| (ra, recovery);
    // Format sheet 1.8, from GNU as: CFA = r10 + 0; CFA = *(rbp - 8), FP = *(rbp + 0);
    // FP = *(CFA - 16); RA = r11.
    assert_eq!(frame(&[0x51, 0]).cfa, Cfa::RegisterOffset { register: Register(10), offset: 0 });
    let realigned = frame(&[0x33, 0xf8, 0, 0x33, 0]);
    assert_eq!(realigned.cfa, Cfa::Dereference { register: Register(6), offset: -8 });
    let loaded = Recovery::AtRegister { register: Register(6), offset: 0 };
    assert_eq!((realigned.ra, realigned.fp), fp(loaded));
    let saved = frame(&[0x39, 8, 0, 0x02, 0xf0]);
    assert_eq!((saved.ra, saved.fp), fp(Recovery::AtCfa(-16)));
    assert_eq!(frame(&[0x39, 8, 0x59, 0]).ra, register(11, 0));
    let both = frame(&[0x39, 8, 0x59, 0, 0x02, 0xf0]);
    assert_eq!((both.ra, both.fp), (register(11, 0), Recovery::AtCfa(-16)));
    // s390x scales the CFA's offset here as well: r15 + 20 * 8 + 160.
    let scaled = only_frame(&flexible(Abi::S390x, &[0x79, 20])).expect("a meaning");
    assert_eq!(scaled.cfa, sp(Abi::S390x, 320));
}

#[test]
fn flexible_rows_that_lead_nowhere_are_errors() {
    // The row is at 49, its info byte at 50, its words from 51 on.
    let error = |words: &[u8]| kind(only_frame(&flexible(Abi::Amd64, words)));
    assert_eq!(error(&[0x39]), (50, ErrorKind::WordCount(1)));
    assert_eq!(error(&[0x39, 8, 0]), (50, ErrorKind::WordCount(3)));
    assert_eq!(error(&[0x39, 8, 0x59, 0, 0x02, 0, 0]), (50, ErrorKind::WordCount(7)));
    assert_eq!(error(&[0x39, 8, 0, 0]), (53, ErrorKind::FlexLayout));
    assert_eq!(error(&[0x39, 8, 0x59, 0, 0]), (53, ErrorKind::FlexLayout));
    assert_eq!(error(&[0x39, 8, 0x59, 0, 0, 0]), (55, ErrorKind::FlexLayout));
    assert_eq!(error(&[0x38, 8]), (51, ErrorKind::CfaWithoutRegister));
}

#[test]
fn a_row_without_words_is_outermost_since_errata_2() {
    assert_eq!(only_frame(&one(Abi::Amd64, 1, 0, 0, &[0, 0])), Ok(Frame::OUTERMOST));
    let mut out = header(1, 1, Abi::Amd64, [1, 1, 2, 0, 17]);
    out.u32(&[0x1000, 16, 0, 1]).u8(&[0]).u8(&[0, 0]);
    assert_eq!(kind(only_frame(&out.bytes)), (46, ErrorKind::WordCount(0)));
}

#[test]
fn too_many_words_cost_one_row() {
    // 15 words of 1 byte where AMD64 has a meaning for 2; the next row is still found.
    let mut row = vec![0, 15 << 1 | 1];
    row.extend([0; 15]);
    row.extend([4, 0x03, 16]);
    let rows = rows(&one(Abi::Amd64, 2, 0, 0, &row));
    assert_eq!(rows[0].expect_err("no meaning").kind, ErrorKind::WordCount(15));
    assert_eq!(rows[1].expect("readable").frame.cfa, sp(Abi::Amd64, 16));
}

#[test]
fn the_reserved_word_size_ends_the_rows() {
    let rows = rows(&one(Abi::Amd64, 2, 0, 0, &[0, 0x63, 8, 4, 0x03, 16]));
    assert_eq!(rows.len(), 1);
    let error = rows[0].expect_err("no length");
    assert_eq!((error.offset, error.kind), (49, ErrorKind::ReservedWordSize));
}

#[test]
fn rows_end_where_the_next_one_starts() {
    // Rows at 0, 4, 4 and 20 of 16 bytes of code.
    let rows = rows(&one(Abi::Amd64, 4, 0, 0, &[0, 3, 8, 4, 3, 16, 4, 3, 24, 20, 3, 32]));
    let ranges: Vec<_> = rows.iter().map(|row| row.expect("readable")).collect();
    let ranges: Vec<_> = ranges.iter().map(|row| (row.start, row.end)).collect();
    assert_eq!(ranges, [(0x1000, 0x1004), (0x1004, 0x1004), (0x1004, 0x1010), (0x1014, 0x1014)]);
}

#[test]
fn of_rows_at_one_place_the_last_is_found() {
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
fn sorted_tables_find_functions_behind_empty_ones() {
    let mut out = header(2, 1, Abi::Amd64, [3, 3, 9, 0, 60]);
    entry2(&mut out, 0x1000, 16, [0, 1], 0, 0);
    // Two functions of size 0 share the start of the one before them.
    entry2(&mut out, 0x1000, 0, [3, 1], 0, 0);
    entry2(&mut out, 0x1000, 0, [6, 1], 0, 0);
    out.u8(&[0, 3, 8, 0, 3, 16, 0, 3, 24]);
    let section = parse(&out.bytes);
    let (function, _) = section.find(0x1008).expect("readable").expect("covered");
    assert_eq!(function.index(), 0);
}

#[test]
fn unsorted_tables_are_searched_linearly() {
    let mut out = header(2, 0, Abi::Amd64, [2, 2, 6, 0, 40]);
    entry2(&mut out, 0x2000, 16, [0, 1], 0, 0);
    entry2(&mut out, 0x1000, 16, [3, 1], 0, 0);
    out.u8(&[0, 3, 8, 0, 3, 16]);
    let section = parse(&out.bytes);
    let index = |pc| section.find(pc).expect("readable").map(|(function, _)| function.index());
    assert_eq!((index(0x2000), index(0x100f), index(0x1800)), (Some(0), Some(1), None));
}

#[test]
fn relocations_decide_in_objects_whatever_the_flag_says() {
    let mut out = header(2, 4, Abi::Amd64, [3, 3, 9, 0, 60]);
    for index in 0..3 {
        entry2(&mut out, 0x7777, 16, [index * 3, 1], 0, 0);
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
fn headers_that_cannot_be_read_say_why() {
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
fn a_table_that_is_cut_off_yields_what_is_there() {
    let mut bytes = one(Abi::Amd64, 1, 0, 0, &[0, 3, 8]);
    // 4,294,967,295 functions, of which one is there.
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
fn unknown_types_cost_their_function_alone() {
    let mut out = header(2, 1, Abi::Amd64, [2, 2, 6, 0, 40]);
    entry2(&mut out, 0x1000, 16, [0, 1], 0x0f, 0);
    entry2(&mut out, 0x2000, 16, [3, 1], 0, 0);
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
fn rows_are_lent_one_by_one() {
    // The second row's three words have no meaning on AMD64, the fourth row has no length.
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

/// Sections whose counts promise more than their bytes: the work has to follow the bytes.
#[test]
fn shared_rows_are_read_once() {
    // 1000 functions that all point at one block of 65,535 rows: 65 million rows by the counts.
    let (functions, count) = (1000_u32, 65_535_u32);
    let mut out = header(2, 1, Abi::Amd64, [functions, 0, count * 3, 0, functions * 20]);
    for index in 0..functions {
        let start = i32::try_from(index * 0x10000).expect("fits");
        entry2(&mut out, start, 0x10000, [0, count], 0, 0);
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
