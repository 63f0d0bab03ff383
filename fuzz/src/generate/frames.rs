//! Frames that a version and an ABI can encode.
//!
//! The limits are those of the machines' ELF ABIs, as the validator's rules about content define them: the range of the
//! CFA, and the places where RA and FP can be saved.

use arbitrary::{Result, Unstructured};
use sframe_validator::unwind::{Cfa, Frame, Recovery, Register};
use sframe_validator::{Abi, Version};

/// The properties that determine which frames a row can express.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The section's version.
    pub version: Version,
    /// The ABI.
    pub abi: Abi,
    /// Whether rows have FDE type FLEX.
    pub flexible: bool,
    /// Whether the outermost frame is allowed.
    pub outermost: bool,
    /// Whether frames that no compiler makes are allowed: unaligned ones, or ones with slots outside the stack frame.
    pub odd: bool,
}

impl Kind {
    const fn aarch64(self) -> bool {
        self.abi.is_aarch64()
    }

    /// The unit of CFA offsets.
    const fn unit(self) -> i64 {
        if self.aarch64() { 16 } else { 8 }
    }

    /// The smallest offset of a CFA from SP.
    const fn least(self) -> i64 {
        match self.abi {
            Abi::Amd64 => 8,
            Abi::S390x => 160,
            Abi::Aarch64Big | Abi::Aarch64Little => 0,
        }
    }
}

/// The frame that entropy encodes.
pub(super) fn frame(input: &mut Unstructured<'_>, kind: Kind) -> Result<Frame> {
    let class = input.arbitrary::<u8>()?;
    if class % 16 == 15 && kind.outermost {
        return Ok(Frame::OUTERMOST);
    }
    let ra_signed = kind.aarch64() && class & 0x40 != 0;
    let frame = if kind.flexible { flexible(input, kind)? } else { default(input, kind)? };
    Ok(Frame { ra_signed, ..frame })
}

/// A size of one to four bytes, in bytes and a multiple of the unit. Most sizes are small.
fn size(input: &mut Unstructured<'_>, kind: Kind) -> Result<i64> {
    let number = i64::from(input.arbitrary::<u16>()?);
    let size = match number % 8 {
        0..=4 => number / 8 % 16 * kind.unit(),
        5 | 6 => number / 8 * kind.unit(),
        _ => (number * 0x1000) / kind.unit() * kind.unit(),
    };
    Ok(size)
}

/// The slot of a register at `CFA + offset`, in a frame whose lowest byte is at `CFA + lowest`. Small numbers select
/// the highest slots.
fn slot(number: u8, highest: i64, lowest: i64) -> Option<Recovery> {
    let slots = (highest - lowest) / 8 + 1;
    let number = i64::from(number);
    // Some slots are far down in large frames.
    let number = if number >= 0xf0 { slots - 1 } else { number };
    (slots > 0).then(|| Recovery::AtCfa(highest - number % slots.max(1) * 8))
}

fn default(input: &mut Unstructured<'_>, kind: Kind) -> Result<Frame> {
    let abi = kind.abi;
    let (class, ra, fp): (u8, u8, u8) =
        (input.arbitrary()?, input.arbitrary()?, input.arbitrary()?);
    let by_fp = class % 4 == 3;
    let offset = kind.least() + size(input, kind)?;
    let (register, offset) = if by_fp {
        // Realigned frames are based on a lower place.
        (abi.fp(), if class & 0x80 != 0 { -offset } else { offset })
    } else {
        (abi.sp(), offset)
    };
    let lowest = match abi {
        Abi::S390x => -160,
        _ if by_fp => -0x1_0000,
        Abi::Amd64 => -offset - 128,
        Abi::Aarch64Big | Abi::Aarch64Little => -offset,
    };
    let highest = if abi == Abi::Amd64 { -16 } else { -8 };
    let mut fp = if class & 4 != 0 || by_fp { slot(fp, highest, lowest) } else { None };
    let mut ra = if class & 8 != 0 || by_fp { slot(ra, -8, lowest) } else { None };
    if kind.odd && class & 0x40 != 0 {
        fp = fp.map(|slot| oddly(slot, class));
    }
    if abi == Abi::S390x && kind.version == Version::V2 && class & 0x10 != 0 {
        fp = Some(in_register(class >> 5, input.arbitrary()?));
        ra = ra.map(|_| in_register(class, 14));
    }
    let frame = match abi {
        Abi::Amd64 => (Recovery::AtCfa(-8), fp),
        // FP can have a word only after RA's.
        Abi::Aarch64Big | Abi::Aarch64Little => {
            (ra.unwrap_or(Recovery::Unchanged), fp.filter(|_| ra.is_some()))
        }
        Abi::S390x => (ra.unwrap_or(Recovery::Unchanged), fp),
    };
    let odd = if kind.odd && class & 0x20 != 0 { i64::from(class) - 0x80 } else { 0 };
    Ok(Frame {
        cfa: Cfa::RegisterOffset { register, offset: offset + odd / 8 * step_of(kind) },
        ra: frame.0,
        fp: frame.1.unwrap_or(Recovery::Unchanged),
        ra_signed: false,
    })
}

/// The possible differences of unusual CFA offsets. s390x stores multiples of 8.
const fn step_of(kind: Kind) -> i64 {
    match kind.abi {
        Abi::S390x => 8,
        _ => 1,
    }
}

/// A slot that is outside the frame, or does not have 8 bytes. The offset is even, because odd ones are registers in
/// version 2 on s390x, and invalid in version 3. It is not 0, which means "not saved" there.
fn oddly(slot: Recovery, class: u8) -> Recovery {
    match slot {
        Recovery::AtCfa(offset) => match offset + 2 * i64::from(class) {
            0 => Recovery::AtCfa(2),
            odd => Recovery::AtCfa(odd),
        },
        other => other,
    }
}

fn in_register(class: u8, number: u8) -> Recovery {
    let register = Register(u32::from(number.wrapping_add(class)) % 32);
    Recovery::RegisterOffset { register, offset: 0 }
}

/// Any register that the machine has.
fn register(number: u8, abi: Abi) -> Register {
    let number = u32::from(number);
    Register(match abi {
        // The numbers of APX's registers need two bytes in a control word.
        Abi::Amd64 if number % 32 >= 16 => 130 + number % 16,
        Abi::Amd64 => number % 16,
        Abi::S390x | Abi::Aarch64Big | Abi::Aarch64Little => number % 32,
    })
}

fn flexible(input: &mut Unstructured<'_>, kind: Kind) -> Result<Frame> {
    let abi = kind.abi;
    let (class, base): (u8, u8) = (input.arbitrary()?, input.arbitrary()?);
    let (ra_class, fp_class): (u8, u8) = (input.arbitrary()?, input.arbitrary()?);
    let offset = kind.least() + size(input, kind)?;
    let base = match class % 4 {
        0 | 1 => abi.sp(),
        2 => abi.fp(),
        _ => register(base, abi),
    };
    let loaded = class & 4 != 0 && (base != abi.sp() || kind.odd);
    let negative = base != abi.sp() && class & 8 != 0;
    let offset = if negative { -offset } else { offset };
    let cfa = match loaded {
        true => Cfa::Dereference { register: base, offset },
        false => Cfa::RegisterOffset { register: base, offset },
    };
    let by_sp = base == abi.sp() && !loaded;
    let lowest = match abi {
        Abi::S390x => -160,
        _ if !by_sp => -0x1_0000,
        Abi::Amd64 => -offset - 128,
        Abi::Aarch64Big | Abi::Aarch64Little => -offset,
    };
    let highest = if abi == Abi::Amd64 { -16 } else { -8 };
    // An offset that depends on the register's number, so that offsets differ.
    let far = |class: u8| i64::from(class) * 8 - 1024;
    let rule = |class: u8, highest| match class % 4 {
        0 => None,
        1 => slot(class / 4, highest, lowest),
        2 => Some(Recovery::AtRegister { register: register(class / 4, abi), offset: far(class) }),
        _ => Some(Recovery::RegisterOffset {
            register: register(class / 4, abi),
            offset: if class & 0x80 == 0 { 0 } else { far(class) },
        }),
    };
    let unruled = match abi {
        Abi::Amd64 => Recovery::AtCfa(-8),
        Abi::S390x | Abi::Aarch64Big | Abi::Aarch64Little => Recovery::Unchanged,
    };
    Ok(Frame {
        cfa,
        ra: rule(ra_class, -8).unwrap_or(unruled),
        fp: rule(fp_class, highest).unwrap_or(Recovery::Unchanged),
        ra_signed: false,
    })
}
