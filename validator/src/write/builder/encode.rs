//! Encodes a frame in the fewest data words of the smallest size. This is the inverse of
//! [`RowLayout::interpret`](crate::section::RowLayout::interpret).

use crate::abi::Abi;
use crate::section::{S390X_CFA_ADJUSTMENT, S390X_CFA_FACTOR, Version};
use crate::unwind::{Cfa, Frame, Recovery, Register};
use crate::write::stored::StoredRow;

/// A data word. Signed offsets and unsigned control words need different widths.
#[derive(Clone, Copy)]
enum Word {
    Signed(i32),
    Unsigned(u32),
}

impl Word {
    /// The size in bytes of the narrowest word that holds the value.
    fn width(self) -> u8 {
        let (byte, half) = match self {
            Word::Signed(value) => (i8::try_from(value).is_ok(), i16::try_from(value).is_ok()),
            Word::Unsigned(value) => (u8::try_from(value).is_ok(), u16::try_from(value).is_ok()),
        };
        match (byte, half) {
            (true, _) => 1,
            (false, true) => 2,
            (false, false) => 4,
        }
    }

    const fn bits(self) -> u32 {
        match self {
            Word::Signed(value) => value.cast_unsigned(),
            Word::Unsigned(value) => value,
        }
    }
}

/// Encodes a default row (V3 3.1); `None` if it cannot express the frame.
pub(super) fn encode_default(
    version: Version,
    abi: Abi,
    start: u32,
    frame: &Frame,
) -> Option<StoredRow> {
    if *frame == Frame::OUTERMOST {
        return (version > Version::V1).then(|| pack(start, &[]));
    }
    let Cfa::RegisterOffset { register, offset } = frame.cfa else { return None };
    let base_sp = register == abi.sp();
    (base_sp || register == abi.fp()).then_some(())?;
    (abi.is_aarch64() || !frame.ra_signed).then_some(())?;
    let mut words = alloc::vec![Word::Signed(cfa_word(abi, offset)?)];
    let fixed_ra = abi.fixed_ra_offset();
    if fixed_ra != 0 {
        (frame.ra == Recovery::AtCfa(i64::from(fixed_ra))).then_some(())?;
    } else {
        match (frame.ra, frame.fp) {
            (Recovery::Unchanged, Recovery::Unchanged) => {}
            // Only on s390x can a row omit RA and have a word for FP.
            (Recovery::Unchanged, _) => words.push((abi == Abi::S390x).then_some(Word::Signed(0))?),
            (ra, _) => words.push(Word::Signed(slot_word(version, abi, ra)?)),
        }
    }
    if frame.fp != Recovery::Unchanged {
        words.push(Word::Signed(slot_word(version, abi, frame.fp)?));
    }
    Some(StoredRow { base_sp, mangled: frame.ra_signed, ..pack(start, &words) })
}

/// Encodes a flexible row (V3 3.2); `None` if it cannot express the frame.
pub(super) fn encode_flexible(
    _: Version,
    abi: Abi,
    start: u32,
    frame: &Frame,
) -> Option<StoredRow> {
    if *frame == Frame::OUTERMOST {
        return Some(pack(start, &[]));
    }
    let (deref, register, offset) = match frame.cfa {
        Cfa::RegisterOffset { register, offset } => (0, register, offset),
        Cfa::Dereference { register, offset } => (2, register, offset),
        Cfa::DereferencePlus { .. } | Cfa::Expression(_) | Cfa::Undefined => return None,
    };
    let mut words = alloc::vec![control(register, deref)?, Word::Signed(cfa_word(abi, offset)?)];
    let unruled = match abi.fixed_ra_offset() {
        0 => Recovery::Unchanged,
        fixed => Recovery::AtCfa(i64::from(fixed)),
    };
    if frame.ra != unruled {
        words.extend(pair(frame.ra)?);
    } else if frame.fp != Recovery::Unchanged {
        words.push(Word::Unsigned(0));
    }
    if frame.fp != Recovery::Unchanged {
        words.extend(pair(frame.fp)?);
    }
    (abi.is_aarch64() || !frame.ra_signed).then_some(())?;
    Some(StoredRow { mangled: frame.ra_signed, ..pack(start, &words) })
}

fn control(register: Register, bits: u32) -> Option<Word> {
    let number = register.0.checked_mul(8).filter(|_| register.0 < 1 << 29)?;
    Some(Word::Unsigned(number | 1 | bits))
}

fn pair(recovery: Recovery) -> Option<[Word; 2]> {
    let (control, offset) = match recovery {
        Recovery::AtCfa(offset) => (Word::Unsigned(2), offset),
        Recovery::AtRegister { register, offset } => (control(register, 2)?, offset),
        Recovery::RegisterOffset { register, offset } => (control(register, 0)?, offset),
        // The value CFA + offset would need control word 0, which means padding.
        _ => return None,
    };
    Some([control, Word::Signed(i32::try_from(offset).ok()?)])
}

fn cfa_word(abi: Abi, offset: i64) -> Option<i32> {
    if abi != Abi::S390x {
        return i32::try_from(offset).ok();
    }
    let adjusted = offset.checked_sub(S390X_CFA_ADJUSTMENT)?;
    (adjusted % S390X_CFA_FACTOR == 0).then_some(())?;
    i32::try_from(adjusted / S390X_CFA_FACTOR).ok()
}

fn slot_word(version: Version, abi: Abi, recovery: Recovery) -> Option<i32> {
    let registers = abi == Abi::S390x && version == Version::V2;
    match recovery {
        // Odd words are registers here, and 0 means that RA is not saved.
        Recovery::AtCfa(offset) if registers && offset % 2 != 0 => None,
        Recovery::AtCfa(0) if abi == Abi::S390x => None,
        Recovery::AtCfa(offset) => i32::try_from(offset).ok(),
        Recovery::RegisterOffset { register, offset: 0 } if registers => {
            i32::try_from(register.0.checked_mul(2)? | 1).ok()
        }
        _ => None,
    }
}

/// All words have the same size, so the widest value determines it.
fn pack(start: u32, words: &[Word]) -> StoredRow {
    let width = words.iter().copied().map(Word::width).max().unwrap_or(1);
    let mut row = StoredRow { info: None, width, ..StoredRow::raw(start, 0, &[]) };
    let mask = row.mask();
    row.words = words.iter().map(|word| word.bits() & mask).collect();
    row
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    const AMD64: Abi = Abi::Amd64;
    const ARM: Abi = Abi::Aarch64Little;
    const S390X: Abi = Abi::S390x;
    const NONE: Recovery = Recovery::Unchanged;

    const fn at(offset: i64) -> Recovery {
        Recovery::AtCfa(offset)
    }

    const fn in_register(register: u32) -> Recovery {
        Recovery::RegisterOffset { register: Register(register), offset: 0 }
    }

    /// CFA = register + offset, with these recoveries.
    const fn frame(register: u32, offset: i64, ra: Recovery, fp: Recovery) -> Frame {
        let cfa = Cfa::RegisterOffset { register: Register(register), offset };
        Frame { cfa, ra, fp, ra_signed: false }
    }

    /// The info byte and the words, as numbers of their width.
    fn stored(row: Option<StoredRow>) -> Option<(u8, Vec<u32>)> {
        row.map(|row| (row.stored_info(), row.words))
    }

    fn default(version: Version, abi: Abi, frame: &Frame) -> Option<(u8, Vec<u32>)> {
        stored(encode_default(version, abi, 0, frame))
    }

    fn words(info: u8, words: &[u32]) -> Option<(u8, Vec<u32>)> {
        Some((info, words.to_vec()))
    }

    /// Format sheet 1.6 and 1.7. SP is register 7, and FP 6.
    #[test]
    fn default_rows_of_amd64() {
        let amd64 = |frame: Frame| default(Version::V2, AMD64, &frame);
        assert_eq!(amd64(frame(7, 8, at(-8), NONE)), words(0x03, &[8]));
        assert_eq!(amd64(frame(6, 16, at(-8), at(-16))), words(0x04, &[16, 0xf0]));
        assert_eq!(amd64(frame(7, 127, at(-8), at(-128))), words(0x05, &[127, 0x80]));
        assert_eq!(amd64(frame(7, 128, at(-8), at(-16))), words(0x25, &[128, 0xfff0]));
        assert_eq!(amd64(frame(7, 16, at(-8), at(-129))), words(0x25, &[16, 0xff7f]));
        assert_eq!(amd64(frame(7, 0x8000, at(-8), NONE)), words(0x43, &[0x8000]));
        assert_eq!(amd64(frame(7, 0x7fff_ffff, at(-8), NONE)), words(0x43, &[0x7fff_ffff]));
        assert_eq!(amd64(frame(7, 16, at(-8), at(0))), words(0x05, &[16, 0]));
        assert_eq!(amd64(Frame::OUTERMOST), words(0, &[]));
        assert_eq!(default(Version::V1, AMD64, &Frame::OUTERMOST), None);
        for refused in [
            frame(7, 0x8000_0000, at(-8), NONE),
            frame(10, 16, at(-8), NONE),
            frame(7, 16, at(-16), NONE),
            frame(7, 16, NONE, NONE),
            frame(7, 16, at(-8), in_register(3)),
            frame(7, 16, at(-8), Recovery::Undefined),
            frame(7, 16, at(-8), Recovery::CfaOffset(-16)),
            Frame { ra_signed: true, ..frame(7, 16, at(-8), NONE) },
            Frame { cfa: Cfa::Undefined, ..frame(7, 16, at(-8), NONE) },
        ] {
            assert_eq!(amd64(refused), None, "{refused}");
        }
    }

    /// SP is register 31, and FP 29. There is no word for FP without one for RA.
    #[test]
    fn default_rows_of_aarch64() {
        let aarch64 = |frame: Frame| default(Version::V3, ARM, &frame);
        assert_eq!(aarch64(frame(31, 16, NONE, NONE)), words(0x03, &[16]));
        assert_eq!(aarch64(frame(31, 16, at(-8), NONE)), words(0x05, &[16, 0xf8]));
        assert_eq!(aarch64(frame(29, 16, at(-8), at(-16))), words(0x06, &[16, 0xf8, 0xf0]));
        let signed = Frame { ra_signed: true, ..frame(31, 16, NONE, NONE) };
        assert_eq!(aarch64(signed), words(0x83, &[16]));
        assert_eq!(aarch64(frame(31, 16, NONE, at(-16))), None);
        assert_eq!(aarch64(frame(7, 16, NONE, NONE)), None);
        assert_eq!(aarch64(frame(31, 16, at(0), NONE)), words(0x05, &[16, 0]));
        assert_eq!(aarch64(frame(31, 16, at(-7), NONE)), words(0x05, &[16, 0xf9]));
        assert_eq!(aarch64(frame(31, 16, in_register(9), NONE)), None);
    }

    /// SP is register 15, and FP 11. The CFA's offset is stored as (offset - 160) / 8, RA's word is 0 if only FP is
    /// saved, and odd words are registers in version 2.
    #[test]
    fn default_rows_of_s390x() {
        let s390x = |frame: Frame| default(Version::V2, S390X, &frame);
        assert_eq!(s390x(frame(15, 160, NONE, NONE)), words(0x03, &[0]));
        assert_eq!(s390x(frame(15, 168, NONE, NONE)), words(0x03, &[1]));
        assert_eq!(s390x(frame(15, 152, NONE, NONE)), words(0x03, &[0xff]));
        assert_eq!(s390x(frame(11, 320, at(-48), NONE)), words(0x04, &[20, 0xd0]));
        assert_eq!(s390x(frame(15, 320, NONE, at(-72))), words(0x07, &[20, 0, 0xb8]));
        assert_eq!(s390x(frame(15, 160, in_register(16), NONE)), words(0x05, &[0, 33]));
        assert_eq!(s390x(frame(15, 160, NONE, in_register(17))), words(0x07, &[0, 0, 35]));
        assert_eq!(s390x(frame(15, 160, in_register(0), NONE)), words(0x05, &[0, 1]));
        let most = frame(15, 160, in_register((1 << 30) - 1), NONE);
        assert_eq!(s390x(most), words(0x45, &[0, 0x7fff_ffff]));
        let far = Recovery::RegisterOffset { register: Register(16), offset: 8 };
        for refused in [
            frame(15, 164, NONE, NONE),
            frame(15, 161, NONE, NONE),
            frame(15, i64::MIN, NONE, NONE),
            frame(15, 160, at(0), NONE),
            frame(15, 160, NONE, at(0)),
            frame(15, 320, at(-47), NONE),
            frame(15, 160, far, NONE),
            frame(15, 160, in_register(1 << 30), NONE),
            frame(15, 160, in_register(1 << 31), NONE),
        ] {
            assert_eq!(s390x(refused), None, "{refused}");
        }
        // Version 3 has no registers in default rows, so an odd word is a slot.
        let third = |frame: Frame| default(Version::V3, S390X, &frame);
        assert_eq!(third(frame(15, 160, in_register(16), NONE)), None);
        assert_eq!(third(frame(15, 320, at(-47), NONE)), words(0x05, &[20, 0xd1]));
        assert_eq!(third(frame(15, 320, at(-48), at(-72))), words(0x07, &[20, 0xd0, 0xb8]));
    }

    /// Format sheet 1.8, with GNU as's encodings of its examples.
    #[test]
    fn flexible_rows() {
        let amd64 = |frame: Frame| stored(encode_flexible(Version::V3, AMD64, 0, &frame));
        assert_eq!(amd64(frame(10, 0, at(-8), NONE)), words(0x04, &[0x51, 0]));
        let load = |register, offset| Cfa::Dereference { register: Register(register), offset };
        let realigned = Frame {
            cfa: load(6, -8),
            fp: Recovery::AtRegister { register: Register(6), offset: 0 },
            ..frame(0, 0, at(-8), NONE)
        };
        assert_eq!(amd64(realigned), words(0x0a, &[0x33, 0xf8, 0, 0x33, 0]));
        assert_eq!(amd64(frame(7, 8, at(-8), at(-16))), words(0x0a, &[0x39, 8, 0, 2, 0xf0]));
        assert_eq!(amd64(frame(7, 8, in_register(11), NONE)), words(0x08, &[0x39, 8, 0x59, 0]));
        let both = frame(7, 8, at(-24), at(-16));
        assert_eq!(amd64(both), words(0x0c, &[0x39, 8, 2, 0xe8, 2, 0xf0]));
        assert_eq!(amd64(frame(7, 8, NONE, NONE)), None);
        assert_eq!(amd64(Frame::OUTERMOST), words(0, &[]));
        // A control word is unsigned: register 31 needs one byte, and 32 two.
        assert_eq!(amd64(frame(31, 0, at(-8), NONE)), words(0x04, &[0xf9, 0]));
        assert_eq!(amd64(frame(32, -1, at(-8), NONE)), words(0x24, &[0x101, 0xffff]));
        let most = frame((1 << 29) - 1, 0, at(-8), NONE);
        assert_eq!(amd64(most), words(0x44, &[0xffff_fff9, 0]));
        assert_eq!(amd64(frame(1 << 29, 0, at(-8), NONE)), None);
        assert_eq!(amd64(frame(7, 8, at(-8), Recovery::CfaOffset(-16))), None);
        assert_eq!(amd64(Frame { ra_signed: true, ..frame(7, 8, at(-8), NONE) }), None);
        assert_eq!(amd64(Frame { cfa: Cfa::Undefined, ..frame(7, 8, at(-8), NONE) }), None);
        let s390x = |frame: Frame| stored(encode_flexible(Version::V3, S390X, 0, &frame));
        assert_eq!(s390x(frame(15, 320, NONE, NONE)), words(0x04, &[0x79, 20]));
        assert_eq!(
            s390x(frame(15, 320, NONE, in_register(16))),
            words(0x0a, &[0x79, 20, 0, 0x81, 0])
        );
        let signed = Frame { ra_signed: true, ..frame(31, 16, NONE, NONE) };
        assert_eq!(stored(encode_flexible(Version::V3, ARM, 0, &signed)), words(0x84, &[0xf9, 16]));
    }
}
