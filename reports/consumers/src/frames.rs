//! Frames from decoded words, for consumers that decode default rows as the specification does.

use sframe_validator::Abi;
use sframe_validator::section::RowInfo;
use sframe_validator::unwind::{Cfa, Frame, Recovery};

/// The CFA at an offset from SP or FP, by the info byte of the row.
pub(crate) fn cfa(machine: Abi, info: u8, offset: i32) -> Cfa {
    let register = if RowInfo(info).base_is_sp() { machine.sp() } else { machine.fp() };
    Cfa::RegisterOffset { register, offset: i64::from(offset) }
}

/// A value saved at an offset from the CFA, or unchanged.
pub(crate) fn saved(offset: Option<i32>) -> Recovery {
    offset.map_or(Recovery::Unchanged, |offset| Recovery::AtCfa(i64::from(offset)))
}

/// A frame without a signature on the return address.
pub(crate) const fn unsigned(cfa: Cfa, ra: Recovery, fp: Recovery) -> Frame {
    Frame { cfa, ra, fp, ra_signed: false }
}
