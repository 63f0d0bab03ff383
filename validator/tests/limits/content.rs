//! The content of default rows. A function has a row at its entry, one with a saved FP, and the row being tested.

use crate::broken;
use crate::sound::{AARCH64, AMD64, S390X, V1, V2, V3, alone, based, entry, function, saved};
use sframe_validator::unwind::{Frame, Recovery, Register};
use sframe_validator::{Abi, Version};

/// The rules that a row with this frame breaks.
fn says(version: Version, abi: Abi, frame: Frame) -> Vec<&'static str> {
    broken(&alone(version, abi, function().row(0, entry(abi)).row(4, saved(abi)).row(8, frame)))
}

/// The rules that a row with this info byte and these words breaks.
fn stores(version: Version, abi: Abi, info: u8, words: &[u8]) -> Vec<&'static str> {
    let function = function().row(0, entry(abi)).row(4, saved(abi)).raw_row(8, info, words);
    broken(&alone(version, abi, function))
}

fn sp(abi: Abi, offset: i64) -> Vec<&'static str> {
    says(V3, abi, based(abi, abi.sp(), offset))
}

/// A frame with CFA = SP + `cfa`, and slots for RA and FP.
fn slots(abi: Abi, cfa: i64, ra: i64, fp: i64) -> Vec<&'static str> {
    let (ra, fp) = (Recovery::AtCfa(ra), Recovery::AtCfa(fp));
    says(V3, abi, Frame { ra, fp, ..based(abi, abi.sp(), cfa) })
}

const NONE: [&str; 0] = [];

/// AMD64: the return address is below the CFA, so the CFA is at least 8 bytes above SP. s390x: the caller's frame starts
/// with 160 bytes of its own (ELF ABI s390x, "The Stack Frame"). The stack is aligned to 8 bytes on AMD64 between
/// pushes, and to 16 on AArch64 (AAPCS64, 6.4.5.1).
#[test]
fn cfa_offsets() {
    assert_eq!(sp(AMD64, 8), NONE);
    assert_eq!(sp(AMD64, 0), ["cfa-offset-low"]);
    assert_eq!(sp(AMD64, 20), ["cfa-alignment"]);
    assert_eq!(sp(AARCH64, 0), NONE);
    assert_eq!(sp(AARCH64, -16), ["cfa-offset-low"]);
    assert_eq!(sp(AARCH64, 32), NONE);
    assert_eq!(sp(AARCH64, 24), ["cfa-alignment"]);
    assert_eq!(sp(S390X, 160), NONE);
    assert_eq!(sp(S390X, 152), ["cfa-offset-low"]);
    assert_eq!(sp(S390X, 168), NONE);
    // Any offset from FP is possible.
    let fp =
        |offset: i64| Frame { fp: Recovery::AtCfa(-offset), ..based(AMD64, AMD64.fp(), offset) };
    assert_eq!(says(V3, AMD64, fp(20)), ["slot-alignment"]);
}

/// 16 MiB.
#[test]
fn huge_cfa_offsets() {
    assert_eq!(sp(AMD64, (16 << 20) - 8), NONE);
    assert_eq!(sp(AMD64, 16 << 20), ["cfa-offset-huge"]);
    assert_eq!(sp(AARCH64, (16 << 20) - 16), NONE);
    assert_eq!(sp(AARCH64, 16 << 20), ["cfa-offset-huge"]);
}

/// AMD64: RA is at CFA - 8, so FP is at CFA - 16 or below, and not below the red zone of 128 bytes (System V ABI, 3.2.2).
/// AArch64 has no red zone. s390x: the save area of 160 bytes belongs to the caller's frame, even if the callee has
/// none.
#[test]
fn slots_are_inside_the_frame() {
    const OUTSIDE: [&str; 1] = ["slot-outside-frame"];
    for (cfa, fp, expected) in [
        (32, -16, &NONE[..]),
        (32, -8, &OUTSIDE),
        (32, -160, &NONE),
        (32, -168, &OUTSIDE),
        (32, -20, &["slot-alignment"]),
        (32, -17, &["slot-alignment"]),
        (32, 17, &["slot-alignment", "slot-outside-frame"]),
    ] {
        assert_eq!(slots(AMD64, cfa, -8, fp), expected, "{cfa} {fp}");
    }
    for (cfa, ra, fp, expected) in [
        (32, -8, -16, &NONE[..]),
        (32, -24, -32, &NONE),
        (32, -32, -40, &OUTSIDE),
        (32, 8, 0, &OUTSIDE),
        (32, -40, -48, &OUTSIDE),
    ] {
        assert_eq!(slots(AARCH64, cfa, ra, fp), expected, "{cfa} {ra} {fp}");
    }
    for (cfa, ra, fp, expected) in [
        (320, -48, -8, &NONE[..]),
        (320, -320, -312, &NONE),
        (320, -328, -312, &OUTSIDE),
        (320, 8, -8, &OUTSIDE),
        (320, -20, -8, &["slot-alignment"]),
        (160, -48, -160, &NONE),
        (160, -48, -168, &OUTSIDE),
        (320, -48, -19, &["register-in-default-row"]),
        (320, -48, -321, &["register-in-default-row"]),
    ] {
        assert_eq!(slots(S390X, cfa, ra, fp), expected, "{cfa} {ra} {fp}");
    }
    // The distance from FP to the end of the stack is unknown.
    let fp = |abi: Abi, offset, ra, fp| {
        let (ra, fp) = (Recovery::AtCfa(ra), Recovery::AtCfa(fp));
        says(V3, abi, Frame { ra, fp, ..based(abi, abi.fp(), offset) })
    };
    assert_eq!(fp(AMD64, 1000, -8, -1000), NONE);
    assert_eq!(fp(AMD64, 8, -8, -8), OUTSIDE);
    assert_eq!(fp(AARCH64, 16, -8, -16), NONE);
    assert_eq!(fp(AARCH64, 1008, -1000, -1008), NONE);
    assert_eq!(fp(AARCH64, 16, -16, -24), ["fp-slot-elsewhere"]);
    assert_eq!(fp(S390X, 1000, -48, -1000), NONE);
}

/// Format sheet 1.7: how many words a row can have, and what each is for.
#[test]
fn words_of_default_rows() {
    // Version 1 gives rows without words no meaning, and its AMD64 rows have at most two words.
    assert_eq!(stores(V1, AMD64, 0x03, &[24]), ["obsolete-version"]);
    assert_eq!(stores(V1, AMD64, 0x00, &[]), ["obsolete-version", "word-count"]);
    assert_eq!(stores(V3, AMD64, 0x00, &[]), NONE);
    assert_eq!(stores(V3, AMD64, 0x05, &[24, 0xf0]), NONE);
    assert_eq!(stores(V3, AMD64, 0x07, &[24, 0xf0, 0xf0]), ["word-count"]);
    assert_eq!(stores(V3, AARCH64, 0x07, &[32, 0xf8, 0xf0]), NONE);
    assert_eq!(stores(V3, AARCH64, 0x09, &[32, 0xf8, 0xf0, 0xf0]), ["word-count"]);
    // s390x: RA alone, FP alone (after padding), and padding alone. The CFA is SP + 21 * 8 + 160.
    assert_eq!(stores(V3, S390X, 0x05, &[21, 0xd0]), NONE);
    assert_eq!(stores(V3, S390X, 0x07, &[21, 0, 0xb8]), NONE);
    assert_eq!(stores(V3, S390X, 0x05, &[21, 0]), ["ra-padding-unneeded"]);
    // The words of a default row are no control words, whatever their bits are.
    assert_eq!(stores(V3, S390X, 0x05, &[4, 0xd0]), NONE);
    assert_eq!(stores(V3, S390X, 0x05, &[6, 0xd0]), NONE);
}

/// s390x has registers 0 to 31 (ELF ABI s390x, "DWARF Register Number Mapping").
#[test]
fn registers_in_version_2() {
    let register = |number| {
        let fp = Recovery::RegisterOffset { register: Register(number), offset: 0 };
        says(V2, S390X, Frame { fp, ..based(S390X, S390X.sp(), 336) })
    };
    assert_eq!(register(31), NONE);
    assert_eq!(register(32), ["register-number"]);
    assert_eq!(register(33), ["register-number"]);
}

/// Words of 2 bytes are needed from 128 on and below -128, and words of 4 bytes from 32,768 on.
#[test]
fn sizes_of_words() {
    assert_eq!(stores(V3, AMD64, 0x23, &[0x80, 0]), NONE);
    assert_eq!(stores(V3, AMD64, 0x23, &[0x78, 0]), ["word-size-wide"]);
    assert_eq!(stores(V3, AMD64, 0x43, &[0, 0x80, 0, 0]), NONE);
    assert_eq!(stores(V3, AMD64, 0x43, &[0xf8, 0x7f, 0, 0]), ["word-size-wide"]);
}

/// The B key signs return addresses only if a row says that RA is signed. A function without rows signs nothing either,
/// which is a consequence.
#[test]
fn keys_of_signatures() {
    let signed = Frame { ra_signed: true, ..saved(AARCH64) };
    let both = |frame| function().row(0, entry(AARCH64)).row(4, frame).pauth_key_b();
    assert_eq!(broken(&alone(V3, AARCH64, both(signed))), NONE);
    assert_eq!(broken(&alone(V3, AARCH64, both(saved(AARCH64)))), ["pauth-key-unused"]);
    // A row with a signature may also be followed by one without.
    assert_eq!(broken(&alone(V3, AARCH64, both(signed).row(8, entry(AARCH64)))), NONE);
    let none = function().pauth_key_b();
    assert_eq!(broken(&alone(V3, AARCH64, none)), ["outermost-by-absence"]);
}
