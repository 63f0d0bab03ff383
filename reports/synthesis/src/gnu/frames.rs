//! What GNU as makes of frames: older releases have no place for some of what CFI says.

use sframe_validator::Abi;
use sframe_validator::section::{S390X_CFA_ADJUSTMENT, S390X_CFA_FACTOR};
use sframe_validator::unwind::{Cfa, Frame, Recovery};

use super::release::Release;
use crate::model::Function;

/// Rewrites a function's frames as the release writes them.
pub(super) fn simplify(function: &mut Function, release: Release, abi: Abi) {
    let mut outermost = false;
    for row in &mut function.rows {
        match release {
            Release::V2_40 | Release::V2_44 => older(&mut row.frame, abi),
            Release::V2_47_50 => {
                // observed: once undefined, RA stays undefined up to the end of the function.
                outermost |= row.frame.ra == Recovery::Undefined;
                if outermost {
                    row.frame = Frame::OUTERMOST;
                }
                if abi == Abi::S390x {
                    round_cfa(&mut row.frame);
                }
            }
        }
    }
    if release != Release::V2_47_50 {
        function.signal = false;
    }
}

/// Versions 1 and 2: RA and FP are in slots, or unchanged.
fn older(frame: &mut Frame, abi: Abi) {
    let slot = |rule| match rule {
        Recovery::AtCfa(_) => rule,
        _ => Recovery::Unchanged,
    };
    // observed: 2.40 writes a CFA based on any other register as one based on SP.
    if let Cfa::RegisterOffset { register, .. } = &mut frame.cfa
        && *register != abi.fp()
    {
        *register = abi.sp();
    }
    frame.fp = slot(frame.fp);
    frame.ra = match abi.fixed_ra_offset() {
        0 => slot(frame.ra),
        fixed => Recovery::AtCfa(fixed.into()),
    };
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
