//! The content of rows. The section has one function. In version 2, its row is at 48, the info byte at 49, and the
//! words from 50 on; in version 3, the row is at 49, the info byte at 50, and the words from 51 on.

use super::field;
use crate::Case;
use crate::host::{SFRAME, Section, TEXT, linked};
use crate::sound::{
    AARCH64, AMD64, S390X, V2, V3, alone, based, bytes, entry, function, of, saved, second,
};
use sframe_validator::elf::SHF_ALLOC;
use sframe_validator::unwind::{Frame, Recovery, Register};
use sframe_validator::write::FunctionBuilder;
use sframe_validator::{Abi, Version};

/// A function whose second row has the given frame. Lints about a function's entry do not check the second row. The
/// first row has 3 bytes, so the second row's info byte is at 52 in version 2, and at 53 in version 3.
fn says(version: Version, abi: Abi, frame: Frame) -> Vec<u8> {
    alone(version, abi, function().row(0, entry(abi)).row(4, frame))
}

/// A section with one more row, of the given info byte and words.
fn raw(version: Version, abi: Abi, info: u8, words: &[u8]) -> Vec<u8> {
    alone(version, abi, function().row(0, entry(abi)).raw_row(4, info, words))
}

/// A flexible row with the given words of 1 byte.
fn flexible(words: &[u8]) -> Vec<u8> {
    let info = u8::try_from(words.len() << 1).expect("at most 15 words");
    flexible_row(info, words)
}

fn flexible_row(info: u8, words: &[u8]) -> Vec<u8> {
    // The first row requires a flexible function: CFA = r10 + 0.
    let drap = based(AMD64, Register(10), 0);
    alone(
        V3,
        AMD64,
        function().row(0, entry(AMD64)).row(2, drap).raw_row(4, info, words).flexible(),
    )
}

/// The section offset of data word `index` in the second row of `says` and `raw`, for words of 1 byte in version 3.
const fn word(index: u64) -> u64 {
    54 + index
}

pub fn cases() -> Vec<Case> {
    let mut cases = words();
    cases.extend(offsets());
    cases.extend(s390x());
    cases.extend(flex());
    cases.push(confirmed());
    cases
}

/// A function of version 2, before errata 1, whose second row has the given frame.
fn early(frame: Frame) -> Vec<u8> {
    let function = function().row(0, entry(AMD64)).row(4, frame);
    bytes(of(V2, AMD64, [function]).with(|s| s.header.flags = 1))
}

fn words() -> Vec<Case> {
    let sound = || says(V3, AMD64, saved(AMD64));
    let signed = |info| raw(V3, AMD64, info, &[16]);
    let outermost = |info| alone(V3, AMD64, function().row(0, entry(AMD64)).raw_row(4, info, &[]));
    vec![
        field("word-count", sound(), raw(V3, AMD64, 0x07, &[16, 0xf0, 0xe8]), 53, "sfre_info"),
        field("word-count-zero", early(saved(AMD64)), early(Frame::OUTERMOST), 52, "sfre_info")
            .besides(&["pcrel-flag-clear"]),
        field("outermost-info", outermost(0), outermost(1), 53, "sfre_info"),
        field("word-size-wide", sound(), raw(V3, AMD64, 0x43, &[16, 0, 0, 0]), 53, "sfre_info"),
        field("mangled-ra", signed(0x03), signed(0x83), 53, "sfre_info"),
    ]
}

fn offsets() -> Vec<Case> {
    let sp = |offset| says(V3, AMD64, based(AMD64, AMD64.sp(), offset));
    let fp_at = |offset| {
        let frame = Frame { fp: Recovery::AtCfa(offset), ..based(AMD64, AMD64.sp(), 32) };
        says(V3, AMD64, frame)
    };
    let fp_based = |fp| says(V3, AMD64, Frame { fp, ..based(AMD64, AMD64.fp(), 16) });
    let ra_saved = |fp| {
        let ra = Recovery::AtCfa(-8);
        says(V3, AARCH64, Frame { ra, fp, ..based(AARCH64, AARCH64.sp(), 16) })
    };
    let record = |ra, fp| {
        let frame = Frame {
            ra: Recovery::AtCfa(ra),
            fp: Recovery::AtCfa(fp),
            ..based(AARCH64, AARCH64.sp(), 16)
        };
        says(V3, AARCH64, frame)
    };
    vec![
        field("cfa-offset-low", sp(16), sp(-8), word(0), "data word 1"),
        field("cfa-alignment", sp(16), sp(12), word(0), "data word 1"),
        field("cfa-offset-huge", sp(16), sp(32 << 20), word(0), "data word 1"),
        field("slot-alignment", fp_at(-16), fp_at(-20), word(1), "data word 2"),
        field("slot-outside-frame", fp_at(-16), fp_at(16), word(1), "data word 2"),
        field(
            "fp-lost",
            fp_based(Recovery::AtCfa(-16)),
            fp_based(Recovery::Unchanged),
            53,
            "sfre_info",
        ),
        field(
            "ra-without-fp",
            ra_saved(Recovery::AtCfa(-16)),
            ra_saved(Recovery::Unchanged),
            53,
            "sfre_info",
        ),
        field(
            "fp-slot-elsewhere",
            fp_based(Recovery::AtCfa(-16)),
            fp_based(Recovery::AtCfa(-24)),
            word(1),
            "data word 2",
        ),
        field("frame-record-split", record(-8, -16), record(-16, -8), word(2), "data word 3"),
    ]
}

fn s390x() -> Vec<Case> {
    let frame = |fp| Frame { fp, ..based(S390X, S390X.sp(), 320) };
    let register = |number| {
        says(V2, S390X, frame(Recovery::RegisterOffset { register: Register(number), offset: 0 }))
    };
    let sound = || says(V3, S390X, saved(S390X));
    vec![
        // The words 20 and 0: CFA = SP + 320, RA not saved, and no word for FP.
        field(
            "ra-padding-unneeded",
            sound(),
            raw(V3, S390X, 0x05, &[20, 0]),
            word(1),
            "data word 2",
        ),
        field(
            "register-in-default-row",
            sound(),
            raw(V3, S390X, 0x07, &[20, 0, 33]),
            word(2),
            "data word 3",
        ),
        field("register-number", register(16), register(32), 55, "data word 3"),
    ]
}

/// Flexible rows: a first row of 4 bytes at 49, a second one of 4 bytes at 53, and the third at 57, with its info byte
/// at 58 and its words from 59 on.
fn flex() -> Vec<Case> {
    // CFA = rsp + 8: 7 << 3 | 1.
    let sound = || flexible(&[0x39, 8]);
    // CFA = *(rbp - 8), FP = *(rbp + 0).
    let realigned = || flexible(&[0x33, 0xf8, 0, 0x33, 0]);
    let register = |number: u8| flexible(&[number << 3 | 1, 8]);
    vec![
        field("flex-word-count", sound(), flexible(&[0x39, 8, 0]), 58, "sfre_info"),
        field("flex-layout", realigned(), flexible(&[0x39, 8, 0, 8]), 61, "data word 3"),
        field("flex-cfa-base", sound(), flexible(&[0x38, 8]), 59, "data word 1"),
        field("flex-control-reserved", sound(), flexible(&[0x3d, 8]), 59, "data word 1"),
        field("flex-register", register(10), register(16), 59, "data word 1"),
        // FP = *(CFA - 16) has the control word 0x02; 0x32 also names rbp, and 0x04 has only the unused bit.
        field(
            "flex-unused-register",
            flexible(&[0x39, 16, 0, 0x02, 0xf0]),
            flexible(&[0x39, 16, 0, 0x32, 0xf0]),
            62,
            "data word 4",
        ),
        field(
            "flex-not-loaded",
            flexible(&[0x39, 16, 0, 0x02, 0xf0]),
            flexible(&[0x39, 16, 0, 0x30, 0xf0]),
            62,
            "data word 4",
        ),
        field("flex-sp-loaded", realigned(), flexible(&[0x3b, 8, 0, 0x33, 0]), 59, "data word 1"),
        field("flex-base-bit", sound(), flexible_row(0x05, &[0x39, 8]), 58, "sfre_info"),
    ]
}

/// A shared object whose first function has CFA = SP + `offset` from its fourth byte on, in both sections. Its second
/// row is at 68, after two entries, the attributes and the first row.
fn confirmed() -> Case {
    let file = |offset: u8| {
        let moved = based(AMD64, AMD64.sp(), offset.into());
        let first = FunctionBuilder::new(TEXT, 16).row(0, entry(AMD64)).row(4, moved);
        let mut builder = of(V3, AMD64, [first, second(AMD64, TEXT + 16)]);
        builder.address(SFRAME);
        let mut host = linked(bytes(&builder));
        let mut header = host.sections[2].header;
        (header.flags, header.offset, header.address) = (SHF_ALLOC, 0, 0x1000);
        let data = eh_frame(0x1000, offset);
        host.sections.push(Section { name: ".eh_frame", header, data });
        host.bytes()
    };
    field("confirmed-oddity", file(16), file(12), 70, "data word 1")
}

/// `.eh_frame` at `address`, according to DWARF 5, 6.4 and the LSB: a CIE and the FDEs of both functions.
fn eh_frame(address: u64, offset: u8) -> Vec<u8> {
    // Version 1, augmentation zR, factors 1 and -8, RA in column 16, PC-relative pointers of 4
    // bytes; CFA = rsp + 8, RA at CFA - 8.
    let mut data = vec![20, 0, 0, 0, 0, 0, 0, 0, 1, b'z', b'R', 0, 1, 0x78, 16, 1, 0x1b];
    data.extend([0x0c, 7, 8, 0x90, 1, 0, 0]);
    // DW_CFA_advance_loc 4, DW_CFA_def_cfa_offset.
    for (start, instructions) in [(TEXT, [0x44, 0x0e, offset]), (TEXT + 16, [0; 3])] {
        data.extend(20_u32.to_le_bytes());
        data.extend((data.len() as u32).to_le_bytes());
        let place = address + data.len() as u64;
        data.extend((start.wrapping_sub(place) as u32).to_le_bytes());
        data.extend(16_u32.to_le_bytes());
        data.push(0);
        data.extend(instructions);
        data.extend([0; 4]);
    }
    data.extend([0; 4]);
    data
}
