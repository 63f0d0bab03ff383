//! The content of flexible rows (V3 3.2; format sheet 1.8).

use crate::sound::{AARCH64, AMD64, S390X, V3, alone, based, entry, function};
use crate::{allowed, broken};
use sframe_validator::Abi;
use sframe_validator::unwind::{Cfa, Frame, Recovery, Register};

const NONE: [&str; 0] = [];

/// CFA = r10 + 0, or r10 + 160 on s390x, which stores it as 0. No default row can express it.
fn drap(abi: Abi) -> Frame {
    based(abi, Register(10), if abi == S390X { 160 } else { 0 })
}

/// A flexible function with a row at its entry, one that no default row can express, and a row with
/// these words of one byte. The first two have 4 bytes each; the info byte of the third is at 58, and its words from 59
/// on.
fn section(abi: Abi, words: &[u8]) -> Vec<u8> {
    let info = u8::try_from(words.len() << 1).expect("few words");
    let function = function().row(0, entry(abi)).row(4, drap(abi)).raw_row(8, info, words);
    alone(V3, abi, function.flexible())
}

fn flexible(words: &[u8]) -> Vec<&'static str> {
    broken(&section(AMD64, words))
}

/// A row with this frame after the other two.
fn says(abi: Abi, frame: Frame) -> Vec<&'static str> {
    let function = function().row(0, entry(abi)).row(4, drap(abi)).row(8, frame);
    broken(&alone(V3, abi, function.flexible()))
}

#[test]
fn numbers_of_words() {
    assert_eq!(flexible(&[]), NONE);
    assert_eq!(flexible(&[0x39]), ["flex-word-count"]);
    assert_eq!(flexible(&[0x39, 16]), NONE);
    assert_eq!(flexible(&[0x39, 16, 0]), ["flex-word-count"]);
    assert_eq!(flexible(&[0x39, 16, 0x59, 0]), NONE);
    assert_eq!(flexible(&[0x39, 16, 0, 0x02, 0xf0]), NONE);
    assert_eq!(flexible(&[0x39, 16, 0x59, 0, 0x02, 0xf0]), NONE);
    assert_eq!(flexible(&[0x39, 16, 0x59, 0, 0x02, 0xf0, 0]), ["flex-word-count"]);
}

/// The padding is 0 and alone; a control word is not 0.
#[test]
fn control_words_match_the_number_of_words() {
    let finding = |words: &[u8]| {
        assert_eq!(flexible(words), ["flex-layout"]);
        let (offset, allowed) = allowed(&section(AMD64, words), "flex-layout");
        (offset, allowed)
    };
    let control = |offset| (Some(offset), "a control word".to_owned());
    assert_eq!(finding(&[0x39, 16, 0, 8]), control(61));
    assert_eq!(finding(&[0x39, 16, 0x59, 0, 0]), (Some(61), "0".to_owned()));
    assert_eq!(finding(&[0x39, 16, 0, 0, 0xf0]), control(62));
    assert_eq!(finding(&[0x39, 16, 0x59, 0, 0, 0xf0]), control(63));
}

/// Bit 2 of each control word is unused. Words without a valid layout are not judged.
#[test]
fn unused_bits_of_control_words() {
    let at = |words: &[u8]| {
        assert_eq!(flexible(words), ["flex-control-reserved"]);
        allowed(&section(AMD64, words), "flex-control-reserved").0
    };
    assert_eq!(at(&[0x3d, 16]), Some(59));
    assert_eq!(at(&[0x39, 16, 0x5d, 0]), Some(61));
    assert_eq!(at(&[0x39, 16, 0, 0x06, 0xf0]), Some(62));
    assert_eq!(at(&[0x39, 16, 0x59, 0, 0x06, 0xf0]), Some(63));
    assert_eq!(flexible(&[0x3c, 16]), ["flex-cfa-base"]);
}

/// System V ABI, figure 3.36: r0 to r15, and r16 to r31 of APX from 130 on. s390x has 32 registers.
#[test]
fn registers_exist() {
    let base = |abi: Abi, number| says(abi, based(abi, Register(number), 320));
    for exists in [0, 15, 130, 145] {
        assert_eq!(base(AMD64, exists), NONE, "{exists}");
    }
    for absent in [16, 31, 129, 146] {
        assert_eq!(base(AMD64, absent), ["flex-register"], "{absent}");
    }
    for exists in [0, 16, 31] {
        assert_eq!(base(S390X, exists), NONE, "{exists}");
    }
    for absent in [32, 130] {
        assert_eq!(base(S390X, absent), ["flex-register"], "{absent}");
    }
}

#[test]
fn registers_that_are_not_used() {
    // FP = *(CFA - 16), also with register 6 named; FP = CFA - 16, which is an address.
    assert_eq!(flexible(&[0x39, 16, 0, 0x32, 0xf0]), ["flex-unused-register"]);
    assert_eq!(flexible(&[0x39, 16, 0x32, 0xf0]), ["flex-unused-register"]);
    assert_eq!(flexible(&[0x39, 16, 0, 0x30, 0xf0]), ["flex-not-loaded"]);
    assert_eq!(flexible(&[0x39, 16, 0x30, 0xf0]), ["flex-not-loaded"]);
}

/// The CFA is an address in the stack, so it is not loaded from there; FP can be.
#[test]
fn loads_relative_to_sp() {
    assert_eq!(flexible(&[0x3b, 16]), ["flex-sp-loaded"]);
    assert_eq!(flexible(&[0x33, 0xf8]), NONE);
    assert_eq!(flexible(&[0x39, 16, 0, 0x3b, 0]), NONE);
    assert_eq!(flexible(&[0x39, 16, 0x3b, 0]), NONE);
}

/// RA's and FP's slots in flexible rows. On AMD64, RA's is directly below the CFA.
#[test]
fn slots_are_inside_the_frame() {
    assert_eq!(flexible(&[0x39, 32, 0x02, 0xf8]), NONE);
    assert_eq!(flexible(&[0x39, 32, 0x02, 0]), ["slot-outside-frame"]);
    assert_eq!(flexible(&[0x39, 32, 0x02, 0xf8, 0x02, 0xf0]), NONE);
    assert_eq!(flexible(&[0x39, 32, 0x02, 0xf8, 0x02, 0xf8]), ["slot-outside-frame"]);
    assert_eq!(flexible(&[0x39, 32, 0, 0x02, 0xf8]), ["slot-outside-frame"]);
    let place = |words: &[u8]| allowed(&section(AMD64, words), "slot-outside-frame").0;
    assert_eq!(place(&[0x39, 32, 0x02, 0]), Some(62));
    assert_eq!(place(&[0x39, 32, 0, 0x02, 0xf8]), Some(63));
    assert_eq!(place(&[0x39, 32, 0x02, 0xf8, 0x02, 0xf8]), Some(64));
}

/// Once the return address has been popped, the CFA may equal SP.
#[test]
fn cfa_offsets() {
    let popped = |offset| {
        let ra = Recovery::RegisterOffset { register: Register(11), offset: 0 };
        says(AMD64, Frame { ra, ..based(AMD64, AMD64.sp(), offset) })
    };
    assert_eq!(popped(0), NONE);
    assert_eq!(popped(-8), ["cfa-offset-low"]);
    assert_eq!(says(AMD64, based(AMD64, AMD64.sp(), 0)), ["cfa-offset-low"]);
    let r10 = |offset| says(AMD64, based(AMD64, Register(10), offset));
    assert_eq!(r10(1 - (16 << 20)), NONE);
    assert_eq!(r10(-(16 << 20)), ["cfa-offset-huge"]);
    let loaded = |offset| {
        let cfa = Cfa::Dereference { register: Register(6), offset };
        says(AMD64, Frame { cfa, ..entry(AMD64) })
    };
    assert_eq!(loaded((16 << 20) - 1), NONE);
    assert_eq!(loaded(16 << 20), ["cfa-offset-huge"]);
    // The offset is the second word. The third row is at 57 and has words of 4 bytes.
    let frame = based(AMD64, Register(10), 16 << 20);
    let function = function().row(0, entry(AMD64)).row(4, drap(AMD64)).row(8, frame).flexible();
    assert_eq!(allowed(&alone(V3, AMD64, function), "cfa-offset-huge").0, Some(59 + 4));
}

/// A flexible row may be based on FP without saying where FP's old value is.
#[test]
fn rules_about_default_rows() {
    assert_eq!(flexible(&[0x31, 16]), NONE);
    // The second word is the CFA's offset, r15 + 0 * 8 + 160, and not padding.
    assert_eq!(broken(&section(S390X, &[0x79, 0])), NONE);
}

/// A flexible function is needed only for values that no default row has (V3 3.1): the CFA is based on SP or FP, RA and
/// FP are in slots or unchanged, AMD64's RA is at CFA - 8, and AArch64 has no word for FP without one for RA.
#[test]
fn functions_that_need_flexible_rows() {
    let needless = |abi: Abi, rows: &[&[u8]]| {
        let mut function = function();
        for (words, start) in rows.iter().zip((0..).step_by(4)) {
            let info = u8::try_from(words.len() << 1).expect("few words");
            function = function.raw_row(start, info, words);
        }
        let broken = broken(&alone(V3, abi, function.flexible()));
        assert!(
            broken.iter().all(|rule| ["flex-needless", "flex-abi"].contains(rule)),
            "{broken:?}"
        );
        broken.contains(&"flex-needless")
    };
    let amd64 = |words: &[u8]| needless(AMD64, &[&[0x39, 8], words]);
    assert!(amd64(&[0x39, 16]), "CFA = rsp + 16");
    assert!(amd64(&[0x31, 16]), "CFA = rbp + 16");
    assert!(amd64(&[0x39, 16, 0, 0x02, 0xf0]), "FP = *(CFA - 16)");
    assert!(amd64(&[0x39, 16, 0x02, 0xf8]), "RA = *(CFA - 8)");
    assert!(amd64(&[]), "outermost");
    assert!(!amd64(&[0x51, 16]), "CFA = r10 + 16");
    assert!(!amd64(&[0x33, 0xf8]), "CFA = *(rbp - 8)");
    assert!(!amd64(&[0x39, 24, 0x02, 0xf0]), "RA = *(CFA - 16)");
    assert!(!amd64(&[0x39, 16, 0x59, 0]), "RA = r11");
    assert!(!amd64(&[0x39, 16, 0, 0x61, 0]), "FP = r12");
    assert!(!amd64(&[0x39, 16, 0, 0x33, 0]), "FP = *(rbp + 0)");
    // One row is enough.
    assert!(!needless(AMD64, &[&[0x39, 8], &[0x51, 0], &[0x39, 16]]));
    let s390x = |words: &[u8]| needless(S390X, &[&[0x79, 0], words]);
    assert!(s390x(&[0x79, 20]), "CFA = r15 + 320");
    assert!(s390x(&[0x79, 20, 0x02, 0xd0]), "RA = *(CFA - 48)");
    assert!(s390x(&[0x79, 20, 0, 0x02, 0xb8]), "FP = *(CFA - 72)");
    assert!(s390x(&[0x79, 20, 0x02, 0xd0, 0x02, 0xb8]), "both");
    assert!(!s390x(&[0x79, 20, 0x81, 0]), "RA = r16");
    assert!(!s390x(&[0x79, 20, 0x02, 0xd0, 0x81, 0]), "FP = r16");
    let aarch64 = |words: &[u8]| needless(AARCH64, &[&[0xf9, 0], words]);
    assert!(aarch64(&[0xf9, 16]), "CFA = sp + 16");
    assert!(aarch64(&[0xf9, 16, 0x02, 0xf8, 0x02, 0xf0]), "RA and FP in slots");
    assert!(!aarch64(&[0xf9, 16, 0, 0x02, 0xf0]), "FP alone in a slot");
}
