//! Tests of stored sections: they are laid out as specified, and have the same bytes as the sections of producers.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::path::{Path, PathBuf};

use sframe_validator::elf::Elf;
use sframe_validator::section::{FdeType, FreType};
use sframe_validator::unwind::{Cfa, Frame, Recovery};
use sframe_validator::write::{
    BuildError, FunctionBuilder, SectionBuilder, StoredFunction, StoredHeader, StoredRow,
    StoredSection,
};
use sframe_validator::{Abi, Endian, Version};

/// Version 2 for AMD64 (V2, "SFrame Header", "SFrame FDE", "SFrame FRE"): one function of 16 bytes at 0x1000, PC-relative
/// from its field at 28; FRE type ADDR1, one row: word count 1, base SP.
const V2: [u8; 51] = [
    0xe2, 0xde, 2, 5, 3, 0, 0xf8, 0, // preamble, ABI, fixed offsets, auxiliary header length
    1, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, // 1 function, 1 row, 3 bytes of rows
    0, 0, 0, 0, 20, 0, 0, 0, // functions at 0, rows at 20 after the header
    0xe4, 0x0f, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, // the function
    0, 0x03, 8, // the row
];

/// A similar section in version 1, which has flags without PC-relative starts and entries of 17 bytes, for big-endian
/// AArch64. The row has three words of 2 bytes: CFA, RA, FP.
const V1: [u8; 53] = [
    0xde, 0xe2, 1, 1, 1, 0, 0, 0, //
    0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 8, //
    0, 0, 0, 0, 0, 0, 0, 17, //
    0, 0, 0x10, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 1, 0x20, // the B key
    4, 0x27, 1, 0, 0xff, 0xf8, 0xff, 0xf0, // the row: at +4, three words of 2 bytes, base SP
];

/// Version 3 for AMD64 (V3 2.2, 2.3): the entry has 16 bytes, and 5 bytes of attributes precede the rows.
const V3: [u8; 53] = [
    0xe2, 0xde, 3, 5, 3, 0, 0xf8, 0, //
    1, 0, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0, //
    0, 0, 0, 0, 16, 0, 0, 0, //
    0xe4, 0x0f, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, // the function, of 256 bytes
    1, 0, 0x91, 0, 32, // 1 row; ADDR2, repeating, a signal frame; default; blocks of 32 bytes
    2, 1, 0x03, 8, // the row: at +0x102
];

fn at_entry(offset: i64) -> Frame {
    Frame {
        cfa: Cfa::RegisterOffset { register: Abi::Amd64.sp(), offset },
        ra: Recovery::AtCfa(-8),
        fp: Recovery::Unchanged,
        ra_signed: false,
    }
}

fn builder(version: Version, function: FunctionBuilder) -> SectionBuilder {
    let mut builder = SectionBuilder::new(version, Abi::Amd64);
    builder.function(function);
    builder
}

#[test]
fn the_builder_lays_sections_out_as_specified() {
    let function = FunctionBuilder::new(0x1000, 16).row(0, at_entry(8));
    let built = builder(Version::V2, function).build().expect("it fits");
    assert_eq!((&built.bytes[..], &built.start_fields[..]), (&V2[..], &[28][..]));

    let sp = Abi::Aarch64Big.sp();
    let frame = Frame {
        cfa: Cfa::RegisterOffset { register: sp, offset: 256 },
        fp: Recovery::AtCfa(-16),
        ..at_entry(0)
    };
    let mut builder = SectionBuilder::new(Version::V1, Abi::Aarch64Big);
    builder.function(FunctionBuilder::new(0x1000, 16).pauth_key_b().row(4, frame));
    assert_eq!(builder.build().expect("it fits").bytes, V1);
    // Reading the bytes yields the section that the builder stored.
    let read = StoredSection::read(&V1, 0).expect("sound");
    assert_eq!(read.functions, builder.stored().expect("it fits").functions);

    let function = FunctionBuilder::new(0x1000, 256).row(0x102, at_entry(8));
    let mut builder = self::builder(Version::V3, function.repeat(32).signal_frame());
    assert_eq!(builder.build().expect("it fits").bytes, V3);
    // The start field of an object has a relocation, and its table is unsorted.
    let object = builder.relocatable().build().expect("it fits").bytes;
    assert_eq!((object[3], &object[28..36]), (4, &[0; 8][..]));
}

/// Functions and their rows are sorted by address. The start fields for relocations are in the order in which the
/// functions were added.
#[test]
fn the_table_is_sorted_if_the_flags_say_so() {
    let mut builder = builder(Version::V2, FunctionBuilder::new(0x2000, 16).row(0, at_entry(8)));
    builder.function(FunctionBuilder::new(0x1000, 16).row(0, at_entry(16)));
    let sorted = builder.build().expect("it fits");
    assert_eq!(sorted.start_fields, [48, 28]);
    // The rows are at 68, 3 bytes each; their last byte is the offset of the CFA.
    assert_eq!((sorted.bytes[36], sorted.bytes[56]), (0, 3));
    assert_eq!((sorted.bytes[70], sorted.bytes[73]), (16, 8));
    let unsorted = builder.with(|s| s.header.flags = 4).build().expect("it fits");
    assert_eq!(unsorted.start_fields, [28, 48]);
    assert_eq!((unsorted.bytes[70], unsorted.bytes[73]), (8, 16));
}

fn difference(one: &[u8], other: &[u8]) -> Vec<(usize, u8)> {
    assert_eq!(one.len(), other.len());
    let pairs = one.iter().zip(other).enumerate();
    pairs.filter(|(_, (one, other))| one != other).map(|(at, (_, new))| (at, *new)).collect()
}

/// The offsets of the header's fields (V3 2.1). Each field is set to bytes that it does not have otherwise.
#[test]
fn each_field_of_the_header_can_be_set() {
    const WORD: u32 = 0x6463_6261;
    const BYTES: [u8; 4] = *b"abcd";
    let sound = StoredSection::read(&V2, 0).expect("sound");
    let set = |change: fn(&mut StoredHeader)| {
        let mut section = sound.clone();
        change(&mut section.header);
        difference(&V2, &section.bytes())
    };
    let word = |at: usize| (at..).zip(BYTES).collect::<Vec<_>>();
    assert_eq!(set(|h| h.magic = 0x6261), [(0, b'a'), (1, b'b')]);
    assert_eq!(set(|h| h.version = 9), [(2, 9)]);
    assert_eq!(set(|h| h.flags = 9), [(3, 9)]);
    assert_eq!(set(|h| h.abi_arch = 9), [(4, 9)]);
    assert_eq!(set(|h| h.cfa_fixed_fp_offset = -2), [(5, 0xfe)]);
    assert_eq!(set(|h| h.cfa_fixed_ra_offset = -2), [(6, 0xfe)]);
    assert_eq!(set(|h| h.auxhdr_len = Some(9)), [(7, 9)]);
    assert_eq!(set(|h| h.num_fdes = Some(WORD)), word(8));
    assert_eq!(set(|h| h.num_fres = Some(WORD)), word(12));
    assert_eq!(set(|h| h.fre_len = Some(WORD)), word(16));
    assert_eq!(set(|h| h.fdeoff = Some(WORD)), word(20));
    assert_eq!(set(|h| h.freoff = Some(WORD)), word(24));
}

/// The offsets of an entry's fields in version 2 (from 28 on), and of attributes in version 3 (from 44 on).
#[test]
fn each_field_of_a_function_can_be_set() {
    let set = |sound: &[u8], change: fn(&mut StoredFunction)| {
        let mut section = StoredSection::read(sound, 0).expect("sound");
        change(&mut section.functions[0]);
        difference(sound, &section.bytes())
    };
    assert_eq!(set(&V2, |f| f.start = 0x1001), [(28, 0xe5)]);
    assert_eq!(set(&V2, |f| f.start_field = Some(0x0fe6)), [(28, 0xe6)]);
    assert_eq!(set(&V2, |f| f.size = 9), [(32, 9)]);
    assert_eq!(set(&V2, |f| f.fre_offset = Some(9)), [(36, 9)]);
    assert_eq!(set(&V2, |f| f.num_fres = Some(9)), [(40, 9)]);
    assert_eq!(set(&V2, |f| f.info = 9), [(44, 9)]);
    assert_eq!(set(&V2, |f| f.rep_size = 9), [(45, 9)]);
    assert_eq!(set(&V2, |f| f.padding = 0x0807), [(46, 7), (47, 8)]);
    assert_eq!(set(&V3, |f| f.num_fres = Some(0x0807)), [(44, 7), (45, 8)]);
    assert_eq!(set(&V3, |f| f.num_fres = Some(0x1_0000)), [(44, 0xff), (45, 0xff)]);
    assert_eq!(set(&V3, |f| f.info = 9), [(46, 9)]);
    assert_eq!(set(&V3, |f| f.info2 = 9), [(47, 9)]);
    assert_eq!(set(&V3, |f| f.rep_size = 9), [(48, 9)]);
}

/// Attributes that nobody uses are read and written as well: the info bytes' unused bits, the block's size, the padding.
#[test]
fn unused_attributes_are_kept() {
    let kept = |mut bytes: Vec<u8>, at: usize, value: u8| {
        bytes[at] |= value;
        let read = StoredSection::read(&bytes, 0).expect("sound");
        assert_eq!(read.bytes(), bytes, "{at}");
    };
    for at in [44, 45, 46, 47] {
        kept(V2.to_vec(), at, 0x60);
    }
    for at in [46, 47, 48] {
        kept(V3.to_vec(), at, 0x60);
    }
}

/// Bytes between and after the parts are at the expected places, and the header's fields account for them.
#[test]
fn space_between_the_parts_is_kept() {
    let mut section = StoredSection::read(&V2, 0).expect("sound");
    section.auxiliary = vec![1; 2];
    section.gap_before_functions = vec![2; 3];
    section.gap_before_rows = vec![3; 4];
    section.functions[0].hole = vec![4; 5];
    section.unused_rows = vec![5; 6];
    section.trailing = vec![6; 7];
    assert_eq!(section.entry_offset(0), 33);
    let bytes = section.bytes();
    let expected = [
        &[1, 1, 2, 2, 2][..],
        // The start field is 5 bytes further on, and 5 bytes that belong to no function precede the rows.
        &[0xdf, 0x0f, 0, 0, 16, 0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0],
        &[3, 3, 3, 3, 4, 4, 4, 4, 4, 0, 3, 8, 5, 5, 5, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6],
    ];
    assert_eq!(bytes[28..], expected.concat());
    // The auxiliary header, the rows with the bytes around them, and the offsets of both tables.
    assert_eq!((bytes[7], bytes[16], bytes[20], bytes[24]), (2, 14, 3, 27));
    let read = StoredSection::read(&bytes, 0).expect("its parts do not overlap");
    assert_eq!(read, section);
    section.cut = 8;
    assert_eq!(section.bytes(), bytes[..bytes.len() - 8]);
    section.cut = 1_000;
    assert!(section.bytes().is_empty());
}

/// GNU ld writes rows in an order other than that of the functions, and `ld -r` keeps counts of rows that no longer
/// exist.
#[test]
fn rows_may_be_in_another_order_and_counted_wrong() {
    let mut section = StoredSection::read(&V2, 0).expect("sound");
    let first = section.functions[0].clone();
    section.push(StoredFunction { start: 0x2000, ..first.clone() });
    section.functions[1].rows[0].words[0] = 16;
    section.row_order = vec![1, 0];
    section.header.num_fres = Some(9);
    let bytes = section.bytes();
    // The rows' offsets are at 36 and 56; the last bytes are the offsets of the CFA.
    assert_eq!((bytes[12], bytes[36], bytes[56], bytes[70], bytes[73]), (9, 3, 0, 16, 8));
    assert_eq!(StoredSection::read(&bytes, 0), Some(section.clone()));
    // An index without a function contributes no rows.
    section.row_order = vec![7, 1, 0];
    assert_eq!(section.bytes(), bytes);
}

/// Parts that overlap, or end outside the section, cannot be taken apart.
#[test]
fn overlapping_parts_are_not_taken_apart() {
    let broken = |at: usize, value: u8| {
        let mut bytes = V2;
        bytes[at] = value;
        StoredSection::read(&bytes, 0)
    };
    assert_eq!(StoredSection::read(&V2[..50], 0), None);
    // The magic number, freoff, the row's offset, and the number of rows.
    for (at, value) in [(0, 0), (24, 16), (36, 1), (40, 2)] {
        assert_eq!(broken(at, value), None, "{at}");
    }
}

#[test]
fn words_keep_their_meaning_when_widened() {
    let row =
        |words: &[u32]| StoredRow { width: 1, words: words.to_vec(), ..StoredRow::raw(0, 0, &[]) };
    let mut offsets = row(&[0x08, 0xf0]);
    assert_eq!(
        (offsets.signed(0), offsets.signed(1), offsets.signed(2)),
        (Some(8), Some(-16), None)
    );
    let bounds = [(0x7f, 1), (-0x80, 1), (0x80, 2), (-0x81, 2)];
    let wider = [(0x7fff, 2), (-0x8000, 2), (0x8000, 4), (-0x8001, 4)];
    for (value, width) in bounds.into_iter().chain(wider) {
        let mut offset = row(&[0]);
        offset.set_signed(0, value);
        assert_eq!((offset.width, offset.signed(0)), (width, Some(value)));
    }
    offsets.set_signed(0, 0x80);
    assert_eq!((offsets.width, &offsets.words[..]), (2, &[0x80, 0xfff0][..]));
    offsets.set_signed(1, -0x8000);
    assert_eq!((offsets.width, &offsets.words[..]), (2, &[0x80, 0x8000][..]));
    offsets.set_signed(1, -0x8001);
    assert_eq!((offsets.width, &offsets.words[..]), (4, &[0x80, 0xffff_7fff][..]));
    assert_eq!(offsets.signed(1), Some(-0x8001));
    offsets.set_signed(2, 1);
    assert_eq!(offsets.words.len(), 2);
    // Control words are unsigned (V3 3.2): 0xf9 is register 31, and must not change.
    let mut pairs = row(&[0xf9, 0xf0, 0x82, 0xf8]);
    pairs.widen(FdeType::Flex, 2);
    assert_eq!(pairs.words, [0xf9, 0xfff0, 0x82, 0xfff8]);
    // Five words: the third is padding, the fourth a control word.
    let mut padded = row(&[0x81, 0xf0, 0x80, 0x82, 0xf8]);
    padded.widen(FdeType::Flex, 4);
    assert_eq!(padded.words, [0x81, 0xffff_fff0, 0x80, 0x82, 0xffff_fff8]);
    padded.widen(FdeType::Flex, 1);
    assert_eq!(padded.width, 4);
}

/// Bits of the info byte (V3 2.4.1): 0 is the base, 1 to 4 are the number of words, 5 and 6 their size, and 7 the
/// signature.
#[test]
fn the_info_byte_follows_from_the_words() {
    let info = |base_sp, mangled, width, words: usize| {
        let words = vec![0; words];
        StoredRow { start: 0, info: None, base_sp, mangled, width, words }.stored_info()
    };
    assert_eq!(info(true, false, 1, 1), 0b0000_0011);
    assert_eq!(info(false, true, 2, 3), 0b1010_0110);
    assert_eq!(info(false, false, 4, 15), 0b0101_1110);
    assert_eq!(StoredRow::raw(0, 0x7f, &[1]).stored_info(), 0x7f);
}

/// Bit 4 of the info byte: the rows apply to each block. The low bits of the second info byte: 1 means flexible (V3
/// 2.3.2).
#[test]
fn functions_know_their_kind() {
    let mut function = StoredFunction::new(0x1000, 64);
    assert_eq!(
        (function.repeats(), function.length(), function.fde_type()),
        (false, 64, FdeType::Default)
    );
    (function.info, function.info2) = (0x10, 0x21);
    assert_eq!(
        (function.repeats(), function.length(), function.fde_type()),
        (true, 64, FdeType::Flex)
    );
    function.rep_size = 16;
    assert_eq!(function.length(), 16);
    function.size = 8;
    assert_eq!(function.length(), 8);
    function.info = 0;
    function.size = 64;
    assert_eq!(function.length(), 64);
    let largest = [FreType::Addr1, FreType::Addr2, FreType::Addr4]
        .map(|fre_type| StoredFunction { fre_type, ..function.clone() }.largest_start());
    assert_eq!(largest, [0xff, 0xffff, 0xffff_ffff]);
}

#[test]
fn values_that_do_not_fit_are_refused() {
    let function = |start| FunctionBuilder::new(start, 16).row(0, at_entry(8));
    let error = |version, function| builder(version, function).build().expect_err("refused");
    for version in [Version::V1, Version::V2] {
        let signal = error(version, function(0x1000).signal_frame());
        assert_eq!(signal, BuildError::NotInVersion { function: 0 });
        let far = error(version, function(1 << 40));
        assert_eq!(far, BuildError::StartOutOfRange { function: 0 });
        let field = error(version, function(0).with(|f| f.start_field = Some(1 << 31)));
        assert_eq!(field, BuildError::StartOutOfRange { function: 0 });
        assert!(
            builder(version, function(0).with(|f| f.start_field = Some(-1 << 31))).build().is_ok()
        );
    }
    assert!(builder(Version::V3, function(1 << 40).signal_frame()).build().is_ok());
    let repeats = error(Version::V1, function(0x1000).repeat(16));
    assert_eq!(repeats, BuildError::NotInVersion { function: 0 });
    // A second row with RA at a place other than AMD64's.
    let moved = Frame { ra: Recovery::AtCfa(-16), ..at_entry(8) };
    let unsaid = error(Version::V2, function(0x1000).row(4, moved));
    assert_eq!(unsaid, BuildError::NotRepresentable { function: 0, row: 1 });
    // Version 3 counts up to 65,535 rows in 16 bits.
    let rows = |count| function(0x1000).with(|f| f.num_fres = Some(count));
    assert_eq!(error(Version::V3, rows(65_536)), BuildError::TooLarge);
    let most = builder(Version::V3, rows(65_535)).build().expect("it fits").bytes;
    // The header's count is the sum of the functions' counts.
    assert_eq!((&most[12..16], &most[44..46]), (&[0xff, 0xff, 0, 0][..], &[0xff, 0xff][..]));
    assert!(builder(Version::V2, rows(u32::MAX)).build().is_ok());
    let mut twice = builder(Version::V2, rows(u32::MAX));
    assert_eq!(twice.function(function(0x2000)).build(), Err(BuildError::TooLarge));
    let auxiliary = |length| {
        let mut builder = builder(Version::V2, function(0x1000));
        builder.with(|s| s.auxiliary = vec![0; length]).build().is_ok()
    };
    assert!(auxiliary(255) && !auxiliary(256));
}

/// A message names the function and the row.
#[test]
fn refusals_name_the_place() {
    let text = BuildError::NotRepresentable { function: 3, row: 7 }.to_string();
    assert!(text.starts_with("row 7 of function 3 "), "{text}");
    assert!(BuildError::NotInVersion { function: 3 }.to_string().ends_with("function 3"));
    assert!(BuildError::StartOutOfRange { function: 3 }.to_string().starts_with("function 3 "));
    assert!(BuildError::TooLarge.to_string().contains("too large"));
}

/// A builder's stored section is the one that it builds, and fields of rows can be changed there.
#[test]
fn a_builder_leads_to_the_stored_section() {
    let builder = builder(Version::V2, FunctionBuilder::new(0x1000, 16).row(0, at_entry(8)));
    let mut stored = builder.stored().expect("it fits");
    assert_eq!(stored.bytes(), V2);
    stored.functions[0].rows[0].words[0] = 9;
    stored.endian = Endian::Big;
    let bytes = stored.bytes();
    assert_eq!((&bytes[..2], bytes[50]), (&[0xde, 0xe2][..], 9));
}

fn golden(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the corpus is there") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            golden(&path, files);
        } else {
            files.push(path);
        }
    }
}

/// Sections that assemblers and linkers wrote have the same bytes after being taken apart and put together again.
#[test]
fn producers_sections_round_trip() {
    let mut files = Vec::new();
    golden(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/golden"), &mut files);
    let mut whole = 0;
    let mut unread = std::collections::BTreeSet::new();
    for path in files {
        let data = std::fs::read(&path).expect("readable");
        let Ok(elf) = Elf::parse(&data) else { continue };
        for section in elf.sframe_sections() {
            let bytes = elf.section_data(section).expect("in the file");
            let Some(stored) = StoredSection::read(bytes, section.address) else {
                unread.insert(path.file_name().expect("a name").to_owned());
                continue;
            };
            assert!(stored.bytes() == bytes, "{}", path.display());
            whole += 1;
        }
    }
    // According to readelf, these have no bytes at all (2.47.50), none in the file (NOBITS), or 28 zero bytes (`ld -r`
    // before 2.47.50).
    let expected = ["all-collected.exe", "debug-only.so", "relocatable-header-only.o"];
    assert_eq!(unread.iter().collect::<Vec<_>>(), expected);
    assert!(whole > 400, "{whole}");
}
