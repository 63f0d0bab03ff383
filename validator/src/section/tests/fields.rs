//! Tests of single fields: their bits, their places, and the reasons why they cannot be read. The expected values are
//! those of the specifications' tables (format sheet 1.3 to 1.8).

use std::string::ToString;

use super::*;
use crate::unwind::CodeAddress;

#[test]
fn versions_have_these_sizes() {
    let known: Vec<_> = (0..=u8::MAX).filter_map(Version::from_number).collect();
    assert_eq!(known, Version::ALL);
    let sizes = |v: Version| (v.number(), v.entry_size(), v.attribute_size(), v.max_rows());
    let expected = [(1, 17, 0, u32::MAX), (2, 20, 0, u32::MAX), (3, 16, 5, 65_535)];
    assert_eq!(Version::ALL.map(sizes), expected);
    assert_eq!(Version::ALL.map(Version::defined_flags), [0b011, 0b111, 0b101]);
}

#[test]
fn bits_of_bytes_have_these_meanings() {
    for byte in 0..=u8::MAX {
        let bit = |number: u32| byte / 2_u8.pow(number) % 2 == 1;
        let flags = Flags(byte);
        let meant = (flags.sorted(), flags.frame_pointer(), flags.pcrel());
        assert_eq!(meant, (bit(0), bit(1), bit(2)), "{byte:#x}");
        let info = FunctionInfo(byte);
        let meant = (info.fre_type_code(), info.is_pc_mask(), info.pauth_key_b());
        assert_eq!(meant, (byte % 16, bit(4), bit(5)), "{byte:#x}");
        assert_eq!(FunctionInfo2(byte).fde_type_code(), byte % 32);
        let row = RowInfo(byte);
        let meant = (row.base_is_sp(), row.word_count(), row.word_size(), row.mangled_ra());
        let size = [Some(1), Some(2), Some(4), None][usize::from(byte / 32 % 4)];
        assert_eq!(meant, (bit(0), byte / 2 % 16, size, bit(7)), "{byte:#x}");
        let control = Control(byte.into());
        let meant = (control.reg_p(), control.deref_p(), control.register());
        assert_eq!(meant, (bit(0), bit(1), Register(u32::from(byte) / 8)), "{byte:#x}");
    }
    assert_eq!(Control(u32::MAX).register(), Register((1 << 29) - 1));
}

#[test]
fn start_fields_have_these_widths() {
    let types = [FreType::Addr1, FreType::Addr2, FreType::Addr4];
    assert_eq!(types.map(FreType::code), [0, 1, 2]);
    assert_eq!(types.map(FreType::width), [1, 2, 4]);
    let known: Vec<_> = (0..=u8::MAX).filter_map(FreType::from_code).collect();
    assert_eq!(known, types);
    let needed = [0, 0xff, 0x100, 0xffff, 0x1_0000, u32::MAX].map(FreType::for_start);
    assert_eq!(needed.map(FreType::width), [1, 1, 2, 2, 4, 4]);
}

/// Two functions without rows, in each version.
fn two(version: Version) -> Vec<u8> {
    let size = version.entry_size() as u32;
    let mut out = header(version.number(), 1, Abi::Amd64, [2, 0, 10, 0, 2 * size]);
    for number in 0..2 {
        match version {
            Version::V3 => out.i64(0x1000).u32(&[16, number * 5]),
            Version::V1 | Version::V2 => out.u32(&[0x1000, 16, number * 5, 0]).u8(&[0]),
        };
        if version == Version::V2 {
            out.u8(&[0; 3]);
        }
    }
    out.u8(&[0; 10]);
    out.bytes
}

#[test]
fn fields_of_functions_are_at_these_places() {
    const FIELDS: [FunctionField; 8] = [
        FunctionField::Start,
        FunctionField::Size,
        FunctionField::FreOffset,
        FunctionField::NumFres,
        FunctionField::Info,
        FunctionField::Info2,
        FunctionField::RepSize,
        FunctionField::Padding,
    ];
    let places = |version| {
        let bytes = two(version);
        let section = parse(&bytes);
        let entry = section.entry(1).expect("two");
        FIELDS.map(|field| entry.field(field)).map(|place| (place.offset, place.size))
    };
    let early = [(45, 4), (49, 4), (53, 4), (57, 4), (61, 1), (61, 1), (61, 1), (61, 1)];
    assert_eq!(places(Version::V1), early);
    let second = [(48, 4), (52, 4), (56, 4), (60, 4), (64, 1), (64, 1), (65, 1), (66, 2)];
    assert_eq!(places(Version::V2), second);
    // The attributes of the second function are 5 bytes after the start of the FRE sub-section, which is at 60.
    let third = [(44, 8), (52, 4), (56, 4), (65, 2), (67, 1), (68, 1), (69, 1), (69, 1)];
    assert_eq!(places(Version::V3), third);
}

#[test]
fn fields_of_functions_are_read_from_their_places() {
    // V2 2.3: the bytes of the only entry are 1 to 20.
    let mut out = header(2, 1, Abi::Amd64, [1, 0, 0, 0, 20]);
    out.u8(&(1..=20).collect::<Vec<_>>());
    let bytes = out.bytes;
    let section = parse(&bytes);
    let function = section.functions().next().expect("one").expect("readable");
    let entry = *function.entry();
    assert_eq!((entry.start_field(), entry.size()), (0x0403_0201, 0x0807_0605));
    assert_eq!(entry.fre_offset(), 0x0c0b_0a09);
    let expected = Attributes {
        num_fres: 0x100f_0e0d,
        info: FunctionInfo(17),
        info2: FunctionInfo2(0),
        rep_size: 18,
        padding: 0x1413,
    };
    assert_eq!(*function.attributes(), expected);
    assert_eq!((function.num_rows(), function.size()), (0x100f_0e0d, 0x0807_0605));
    assert_eq!(function.start(), Ok(CodeAddress::absolute(0x0403_0201)));
    assert_eq!(entry.rows_offset(), 48 + 0x0c0b_0a09);
    // V3 2.3: an entry of 16 bytes, and attributes of 5.
    let mut out = header(3, 1, Abi::Amd64, [1, 0, 5, 0, 16]);
    out.u8(&(1..=12).collect::<Vec<_>>()).u8(&[0; 4]).u8(&[13, 14, 15, 16, 17]);
    let bytes = out.bytes;
    let section = parse(&bytes);
    let function = section.functions().next().expect("one").expect("readable");
    let (start, size) = (function.entry().start_field(), function.size());
    assert_eq!((start, size), (0x0807_0605_0403_0201, 0x0c0b_0a09));
    let expected = Attributes {
        num_fres: 0x0e0d,
        info: FunctionInfo(15),
        info2: FunctionInfo2(16),
        rep_size: 17,
        padding: 0,
    };
    assert_eq!(*function.attributes(), expected);
    assert_eq!(function.first_row_offset(), 28 + 16 + 5);
}

#[test]
fn truncated_attributes_are_at_their_place() {
    let mut bytes = two(Version::V3);
    // The second function's offset of rows: 7 of 10 bytes are before it.
    bytes[56] = 7;
    let error = parse(&bytes).functions().nth(1).expect("two").map(|_| ()).expect_err("cut");
    let kind = ErrorKind::Truncated { needed: 5, available: 3 };
    assert_eq!((error.offset, error.kind), (60 + 7, kind));
    bytes[56] = 11;
    let error = parse(&bytes).functions().nth(1).expect("two").map(|_| ()).expect_err("cut");
    let kind = ErrorKind::Truncated { needed: 5, available: 0 };
    assert_eq!((error.offset, error.kind), (60 + 11, kind));
}

#[test]
fn marks_of_functions() {
    let marks = |version: u8, info, info2, count: u16| {
        let mut out =
            header(version, 1, Abi::Amd64, [1, 0, 5, 0, if version == 3 { 16 } else { 20 }]);
        if version == 3 {
            out.i64(0x1000).u32(&[16, 0]).u16(count).u8(&[info, info2, 0]);
        } else {
            entry2(&mut out, 0x1000, 16, [0, count.into()], [info, 0]);
        }
        let bytes = out.bytes;
        let section = parse(&bytes);
        let function = section.functions().next().expect("one").expect("readable");
        (function.is_signal_frame(), function.is_outermost(), function.is_flexible())
    };
    assert_eq!(marks(3, 0, 0, 1), (false, false, false));
    assert_eq!(marks(3, 0x80, 0, 1), (true, false, false));
    assert_eq!(marks(3, 0x7f, 0, 1), (false, false, false));
    assert_eq!(marks(3, 0, 0, 0), (false, true, false));
    assert_eq!(marks(3, 0, 1, 0), (false, false, true));
    assert_eq!(marks(3, 0, 0x21, 1), (false, false, true));
    assert_eq!(marks(3, 0, 2, 0), (false, false, false));
    // Version 2 has no such marks.
    assert_eq!(marks(2, 0x80, 0, 0), (false, false, false));
}

#[test]
fn entries_and_rows_are_counted_down() {
    let bytes = two(Version::V1);
    let section = parse(&bytes);
    let mut entries = section.entries();
    assert_eq!((entries.len(), entries.size_hint()), (2, (2, Some(2))));
    assert_eq!(entries.next().map(|entry| entry.index()), Some(0));
    assert_eq!(entries.len(), 1);
    assert_eq!(entries.next().map(|entry| entry.index()), Some(1));
    assert_eq!((entries.len(), entries.next().is_none()), (0, true));
    let bytes = one(Abi::Amd64, 3, 0, 0, &[0, 3, 8, 4, 5, 16, 0xf0, 8, 3, 8]);
    let section = parse(&bytes);
    let function = section.functions().next().expect("one").expect("readable");
    let mut rows = function.frame_row_entries().expect("known");
    let mut seen = Vec::new();
    loop {
        seen.push((rows.remaining(), rows.offset(), rows.peek_start()));
        let Some(row) = rows.next() else { break };
        let row = row.expect("readable");
        assert_eq!((row.offset, Some(row.start)), (seen[seen.len() - 1].1, seen[seen.len() - 1].2));
    }
    assert_eq!(seen, [(3, 48, Some(0)), (2, 51, Some(4)), (1, 55, Some(8)), (0, 58, None)]);
}

/// A row needs its start field, its info byte, and its words.
#[test]
fn truncated_rows_need_all_their_bytes() {
    let error = |info: u8, rows: &[u8]| {
        let bytes = one(Abi::Amd64, 2, info, 0, rows);
        let section = parse(&bytes);
        let function = section.functions().next().expect("one").expect("readable");
        let last = function.frame_row_entries().expect("known").last().expect("one");
        let error = last.map(|_| ()).expect_err("cut");
        let ErrorKind::Truncated { needed, available } = error.kind else { panic!("{error}") };
        (error.offset, needed, available)
    };
    // After a row of 3 bytes at 48: nothing, a start field, and a row without its last word.
    assert_eq!(error(0, &[0, 3, 8]), (51, 2, 0));
    assert_eq!(error(0, &[0, 3, 8, 4]), (51, 2, 1));
    assert_eq!(error(0, &[0, 3, 8, 4, 5, 16]), (51, 4, 3));
    assert_eq!(error(0, &[0, 3, 8, 4, 0x25, 16, 0, 1]), (51, 6, 5));
    assert_eq!(error(1, &[0, 0, 3, 8, 4, 0]), (52, 3, 2));
    assert_eq!(error(2, &[0, 0, 0, 0, 3, 8, 4, 0, 0, 0]), (54, 5, 4));
    assert_eq!(error(2, &[0, 0, 0, 0, 3, 8, 4, 0, 0, 0, 0x43, 1]), (54, 9, 6));
}

/// A header may fix the place of RA or FP, which then has no words.
#[test]
fn fixed_offsets_replace_words() {
    let with = |abi, fixed_fp: i8, fixed_ra: i8, row: &[u8]| {
        let mut bytes = one(abi, 1, 0, 0, row);
        (bytes[5], bytes[6]) = (fixed_fp.cast_unsigned(), fixed_ra.cast_unsigned());
        only_frame(&bytes).map(|frame| (frame.ra, frame.fp))
    };
    let at = Recovery::AtCfa;
    let none = Recovery::Unchanged;
    assert_eq!(with(Abi::Amd64, -16, -8, &[0, 3, 8]), Ok((at(-8), at(-16))));
    let error = with(Abi::Amd64, -16, -8, &[0, 5, 8, 0xf0]).expect_err("two words");
    assert_eq!((error.offset, error.kind), (49, ErrorKind::WordCount(2)));
    assert_eq!(with(Abi::Aarch64Little, 0, -8, &[0, 3, 16]), Ok((at(-8), none)));
    assert_eq!(with(Abi::Aarch64Little, 0, -8, &[0, 5, 16, 0xf0]), Ok((at(-8), at(-16))));
    assert_eq!(with(Abi::Aarch64Little, -16, 0, &[0, 5, 16, 0xf8]), Ok((at(-8), at(-16))));
    assert_eq!(with(Abi::Aarch64Little, -16, 0, &[0, 3, 16]), Ok((none, at(-16))));
    let flexible = |fixed_fp: i8, fixed_ra: i8, words: &[u8]| {
        let mut bytes = flexible(Abi::Amd64, words);
        (bytes[5], bytes[6]) = (fixed_fp.cast_unsigned(), fixed_ra.cast_unsigned());
        only_frame(&bytes).map(|frame| (frame.ra, frame.fp))
    };
    assert_eq!(flexible(-16, -8, &[0x39, 8]), Ok((at(-8), at(-16))));
    assert_eq!(flexible(0, 0, &[0x39, 8]), Ok((none, none)));
    assert_eq!(flexible(0, 0, &[0x39, 8, 0, 0x02, 0xf0]), Ok((none, at(-16))));
}

/// Only AArch64 signs return addresses.
#[test]
fn signatures_of_return_addresses() {
    let signed = |abi| {
        let default = only_frame(&one(abi, 1, 0, 0, &[0, 0x83, 16])).expect("a meaning");
        let mut bytes = flexible(abi, &[0x39, 16]);
        let unsigned = only_frame(&bytes).expect("a meaning");
        assert!(!unsigned.ra_signed);
        bytes[50] |= 0x80;
        (default.ra_signed, only_frame(&bytes).expect("a meaning").ra_signed)
    };
    assert_eq!(signed(Abi::Aarch64Little), (true, true));
    assert_eq!(signed(Abi::Aarch64Big), (true, true));
    assert_eq!(signed(Abi::Amd64), (false, false));
    assert_eq!(signed(Abi::S390x), (false, false));
}

/// Each PC is looked up; the expected function follows from its number. Functions have 4 bytes and gaps of 2.
#[test]
fn every_pc_is_found_in_sorted_and_unsorted_tables() {
    for (count, sorted) in (0..9_u8).flat_map(|count| [(count, 0), (count, 1)]) {
        let number = u32::from(count);
        let mut out = header(2, sorted, Abi::Amd64, [number, 1, 6, 0, number * 20]);
        for index in 0..i32::from(count) {
            entry2(&mut out, 0x10 + 6 * index, 4, [0, 2], [0, 0]);
        }
        out.u8(&[0, 3, 8, 2, 3, 16]);
        let section = parse(&out.bytes);
        for pc in 0..0x10 + 6 * u64::from(count) + 8 {
            let found = section.find(pc).expect("readable");
            let place = pc.checked_sub(0x10).map(|place| (place / 6, place % 6));
            let expected = place.filter(|(index, at)| *index < u64::from(count) && *at < 4);
            let found = found.map(|(function, row)| {
                assert!(row.contains(pc) && row.end - row.start == 2, "{pc:#x}");
                (u64::from(function.index()), row.start - 0x10 - 6 * u64::from(function.index()))
            });
            assert_eq!(found, expected.map(|(index, at)| (index, at / 2 * 2)), "{pc:#x}");
        }
    }
}

/// In 40 bytes of code, the last block of 16 bytes has only 8.
#[test]
fn the_last_block_ends_with_its_function() {
    let mut bytes = one(Abi::Amd64, 2, 0x10, 16, &[0, 3, 8, 4, 3, 16]);
    bytes[32] = 40;
    let section = parse(&bytes);
    let range = |pc| section.find(pc).expect("readable").map(|(_, row)| (row.start, row.end));
    assert_eq!(range(0x1014), Some((0x1014, 0x1020)));
    assert_eq!(range(0x1023), Some((0x1020, 0x1024)));
    assert_eq!(range(0x1024), Some((0x1024, 0x1028)));
    assert_eq!((range(0x1027), range(0x1028)), (Some((0x1024, 0x1028)), None));
}

/// A message names the field, its place and the value.
#[test]
fn messages_name_the_value() {
    let error = Error::new(0x30, "sfre_info", ErrorKind::WordCount(7));
    assert!(error.to_string().starts_with("sfre_info at section offset 0x30: 7 data words"));
    let truncated = ErrorKind::Truncated { needed: 28, available: 3 }.to_string();
    assert!(truncated.contains("28") && truncated.contains('3'), "{truncated}");
    for (kind, value) in [
        (ErrorKind::BadMagic(0xbeef), "0xbeef"),
        (ErrorKind::UnknownVersion(77), "77"),
        (ErrorKind::UnknownAbi(77), "77"),
        (ErrorKind::UnknownFreType(77), "77"),
        (ErrorKind::UnknownFdeType(77), "77"),
        (ErrorKind::ReservedWordSize, "code 3"),
        (ErrorKind::FlexLayout, "control words"),
        (ErrorKind::CfaWithoutRegister, "register"),
        (ErrorKind::UnknownRepeatSize, "repeated block"),
        (ErrorKind::MissingRelocation, "relocation"),
        (ErrorKind::Discarded, "discarded"),
        (ErrorKind::SharedRows, "share"),
    ] {
        assert!(kind.to_string().contains(value), "{kind}");
    }
}
