//! What GNU as writes of frames: older releases have no place for some of what CFI says.

use sframe_validator::Abi;
use sframe_validator::section::{S390X_CFA_ADJUSTMENT, S390X_CFA_FACTOR};
use sframe_validator::unwind::{Cfa, Frame, Recovery, Register};

use super::release::Release;

/// The register that 2.47.50 writes for a base that it does not know.
pub(super) const NO_REGISTER: Register = Register(0x1fff_ffff);

/// The offset of a CFA for which there is no rule yet: the word is 0.
pub(super) const fn unset_offset(abi: Abi) -> i64 {
    match abi {
        Abi::S390x => S390X_CFA_ADJUSTMENT,
        Abi::Amd64 | Abi::Aarch64Big | Abi::Aarch64Little => 0,
    }
}

/// A frame as the release writes it. A CFA for which there is no rule yet gets the base `unset`.
pub(super) fn written(mut frame: Frame, unset: Register, release: Release, abi: Abi) -> Frame {
    if frame.cfa == Cfa::Undefined {
        frame.cfa = Cfa::RegisterOffset { register: unset, offset: unset_offset(abi) };
    }
    if release < Release::V2_47_50 {
        older(&mut frame, abi);
    }
    if abi == Abi::S390x {
        round_cfa(&mut frame);
    }
    if abi.fixed_ra_offset() != 0 {
        frame.ra = match frame.ra {
            Recovery::Unchanged => Recovery::AtCfa(abi.fixed_ra_offset().into()),
            Recovery::AtCfa(offset) => Recovery::AtCfa(cut(offset, &frame)),
            other => other,
        };
    }
    frame
}

/// The offset of RA's slot, cut to the words that the rest of the row needs (`return-offset-cut`).
fn cut(offset: i64, frame: &Frame) -> i64 {
    let (Cfa::RegisterOffset { register, offset: base }
    | Cfa::Dereference { register, offset: base }) = frame.cfa
    else {
        return offset;
    };
    let rest = match frame.fp {
        Recovery::AtCfa(offset) => [offset, 0],
        Recovery::RegisterOffset { register, offset }
        | Recovery::AtRegister { register, offset } => [offset, control(register)],
        _ => [0, 0],
    };
    let values = [base, control(register), rest[0], rest[1]];
    let [byte, second, ..] = offset.to_le_bytes();
    if values.iter().all(|value| i8::try_from(*value).is_ok()) {
        i8::from_le_bytes([byte]).into()
    } else if values.iter().all(|value| i16::try_from(*value).is_ok()) {
        i16::from_le_bytes([byte, second]).into()
    } else {
        offset
    }
}

/// A signed number that is as wide as the control word of a register, whose number is shifted by three bits.
fn control(register: Register) -> i64 {
    i64::from(register.0).saturating_mul(4)
}

/// Versions 1 and 2: the CFA is counted from SP or FP.
fn older(frame: &mut Frame, abi: Abi) {
    // observed: 2.40 writes a CFA based on any other register as one based on SP.
    if let Cfa::RegisterOffset { register, .. } = &mut frame.cfa
        && *register != abi.fp()
    {
        *register = abi.sp();
    }
    // observed: 2.40 writes the slot of FP alone, which reads as the slot of RA.
    if abi.is_aarch64() && frame.ra == Recovery::Unchanged && frame.fp != Recovery::Unchanged {
        frame.ra = core::mem::replace(&mut frame.fp, Recovery::Unchanged);
    }
}

/// Rounds the CFA's offset towards its smallest value, as a division does.
fn round_cfa(frame: &mut Frame) {
    if let Cfa::RegisterOffset { offset, .. } | Cfa::Dereference { offset, .. } = &mut frame.cfa {
        let factors = offset.saturating_sub(S390X_CFA_ADJUSTMENT) / S390X_CFA_FACTOR;
        *offset = factors.saturating_mul(S390X_CFA_FACTOR).saturating_add(S390X_CFA_ADJUSTMENT);
    }
}
