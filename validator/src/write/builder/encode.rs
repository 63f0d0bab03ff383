//! Encodes a frame in the fewest data words of the smallest size. This is the inverse of
//! [`RowLayout::interpret`](crate::section::RowLayout::interpret).

use alloc::vec::Vec;

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
        return (version > Version::V1).then(|| pack(start, false, false, &[]));
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
    Some(pack(start, base_sp, frame.ra_signed, &words))
}

/// Encodes a flexible row (V3 3.2); `None` if it cannot express the frame.
pub(super) fn encode_flexible(
    _: Version,
    abi: Abi,
    start: u32,
    frame: &Frame,
) -> Option<StoredRow> {
    if *frame == Frame::OUTERMOST {
        return Some(pack(start, false, false, &[]));
    }
    let (deref, register, offset) = match frame.cfa {
        Cfa::RegisterOffset { register, offset } => (0, register, offset),
        Cfa::Dereference { register, offset } => (2, register, offset),
        Cfa::Expression(_) | Cfa::Undefined => return None,
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
    Some(pack(start, false, frame.ra_signed, &words))
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
fn pack(start: u32, base_sp: bool, mangled: bool, words: &[Word]) -> StoredRow {
    let width = words.iter().copied().map(Word::width).max().unwrap_or(1);
    let mut row = StoredRow { start, info: None, base_sp, mangled, width, words: Vec::new() };
    let mask = row.mask();
    row.words = words.iter().map(|word| word.bits() & mask).collect();
    row
}
