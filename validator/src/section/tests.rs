//! Tests with sections that are written by hand, byte by byte from the specifications' layouts, and their meaning.

#![allow(clippy::cast_possible_truncation, clippy::indexing_slicing, reason = "tests may panic")]

mod fields;
mod lookup;

use std::vec;
use std::vec::Vec;

use super::*;
use crate::unwind::{Cfa, Frame, Recovery, Register, Row};

/// Writes fields of fixed widths in a byte order.
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

/// A header: version, flags, ABI with its fixed RA offset, then the counts and offsets.
fn header(version: u8, flags: u8, abi: Abi, counts: [u32; 5]) -> Bytes {
    let mut out = Bytes { bytes: Vec::new(), endian: abi.endian() };
    let fixed_ra = if abi == Abi::Amd64 { 0xf8 } else { 0 };
    out.u16(0xdee2).u8(&[version, flags, abi.id(), 0, fixed_ra, 0]).u32(&counts);
    out
}

/// A version 2 entry: where its rows are and how many, and the info byte with the size of the repeated block.
fn entry2(out: &mut Bytes, start: i32, size: u32, rows: [u32; 2], info: [u8; 2]) {
    out.u32(&[start.cast_unsigned(), size, rows[0], rows[1]]).u8(&info).u16(0);
}

/// A version 2 section of one function of 16 bytes at 0x1000, with the given rows.
fn one(abi: Abi, count: u32, info: u8, rep: u8, rows: &[u8]) -> Vec<u8> {
    let mut out = header(2, 1, abi, [1, count, rows.len() as u32, 0, 20]);
    entry2(&mut out, 0x1000, 16, [0, count], [info, rep]);
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

/// The rows of a section's only function, which are its last bytes. Also checks that they are the same if more bytes
/// follow, whatever these are.
fn rows(bytes: &[u8]) -> Vec<Result<Row, Error>> {
    let read = |bytes: &[u8]| -> Vec<_> {
        let section = parse(bytes);
        let function = section.functions().next().expect("a function").expect("readable");
        function.rows().expect("rows").collect()
    };
    let rows = read(bytes);
    let length = parse(bytes).header().fre_len + 16;
    let length = match parse(bytes).endian() {
        Endian::Little => length.to_le_bytes(),
        Endian::Big => length.to_be_bytes(),
    };
    for byte in [0, 0xff] {
        let mut longer = bytes.to_vec();
        longer[16..20].copy_from_slice(&length);
        longer.extend([byte; 16]);
        assert_eq!(read(&longer), rows);
    }
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
        entry2(&mut out, 0x100, 16, [0, 0], [0, 0]);
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
    // Two auxiliary bytes, four before the table, four between the table and the rows, two after the rows.
    out.u8(&[0xaa; 6]);
    entry2(&mut out, 0x1000, 16, [0, 1], [0, 0]);
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
    entry2(&mut out, 0x1000, 0x400, [0, 1], [0x21, 0]);
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
    entry2(&mut out, 0x1000, u32::MAX, [0, 1], [2, 0]);
    out.u32(&[0x8000_0000]).u8(&[2 << 5 | 2 << 1]).u32(&[0x10000, (-0x20000_i32) as u32]);
    let row = rows(&out.bytes)[0].expect("readable");
    assert_eq!(row.start, 0x8000_1000);
    assert_eq!(row.frame.cfa, Cfa::RegisterOffset { register: Register(6), offset: 0x10000 });
    assert_eq!(row.frame.fp, Recovery::AtCfa(-0x20000));
    // Equal widths in the other byte order: CFA = SP + 0x1000 * 8 + 160, RA at CFA - 0x20000.
    let mut out = header(2, 1, Abi::S390x, [1, 1, 13, 0, 20]);
    entry2(&mut out, 0x1000, u32::MAX, [0, 1], [2, 0]);
    out.u32(&[0x8000_0000]).u8(&[2 << 5 | 2 << 1 | 1]).u32(&[0x1000, (-0x20000_i32) as u32]);
    let row = rows(&out.bytes)[0].expect("readable");
    assert_eq!((row.start, row.frame.cfa), (0x8000_1000, sp(Abi::S390x, 0x8000 + 160)));
    assert_eq!(row.frame.ra, Recovery::AtCfa(-0x20000));
}

#[cfg(feature = "elf")]
#[test]
fn short_rows_have_the_words_their_info_byte_counts() {
    for (info, width) in (0..=u8::MAX).flat_map(|info| [(info, 1), (info, 2), (info, 4)]) {
        // V3 2.4.1: bits 1 to 4 are the number of words, and bits 5 and 6 encode their size of 1, 2 or 4 bytes.
        let length = usize::from(info >> 1 & 0xf) << (info >> 5 & 3);
        let readable = info >> 5 & 3 != 3 && length <= 8;
        let mut row = vec![0; width];
        row.push(info);
        // The FRE type is 0, 1 or 2.
        let mut bytes = one(Abi::Amd64, 1, width as u8 / 2, 0, &row);
        bytes[16] += 16;
        bytes.extend(0xf0..=0xff);
        let section = parse(&bytes);
        let function = section.functions().next().expect("a function").expect("readable");
        let entries = function.frame_row_entries().expect("rows");
        let words = entries.short().map(|row| (row.size, row.packed_words()));
        let all = 0xf7f6_f5f4_f3f2_f1f0_u128;
        let expected = (width + 1 + length, (all & ((1 << (8 * length.min(8))) - 1)) as u64);
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
    // Format sheet 1.8, produced by GNU as: CFA = r10 + 0; CFA = *(rbp - 8), FP = *(rbp + 0); FP = *(CFA - 16); RA =
    // r11.
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
fn invalid_flexible_rows_are_errors() {
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
fn too_many_words_affect_only_their_row() {
    // 15 words of 1 byte, although AMD64 defines at most 2; the next row is still found.
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
