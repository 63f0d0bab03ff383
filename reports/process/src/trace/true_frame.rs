//! The true frame, where a row is wrong, as a row would state it.

use sframe_validator::Abi;
use sframe_validator::unwind::{Cfa, Frame, Recovery, Register};

use super::outcome::Fields;
use super::shadow::Caller;

/// The true frame in the terms of a wrong one: with another offset of the CFA, everything else is right. `None` if that is
/// not all that is wrong.
///
/// `register` and `word` read registers and memory.
pub(super) fn true_frame(
    stated: &Frame,
    fields: Fields,
    truth: &Caller,
    register: impl Fn(Register) -> Option<u64>,
    word: impl Fn(u64) -> Option<u64>,
) -> Option<Frame> {
    let Cfa::RegisterOffset { register: base, .. } = stated.cfa else { return None };
    if !fields.cfa || fields.fp || fields.outermost {
        return None;
    }
    let offset = truth.sp.wrapping_sub(register(base)?).cast_signed();
    let is_ra_right = match stated.ra {
        Recovery::AtCfa(offset) => word(truth.sp.wrapping_add_signed(offset)) == Some(truth.ra),
        _ => !fields.ra,
    };
    // Where FP is on the stack depends on the CFA as well.
    let is_fp_right = match stated.fp {
        Recovery::AtCfa(offset) => word(truth.sp.wrapping_add_signed(offset)) == Some(truth.fp),
        Recovery::Unchanged => register(Abi::Amd64.fp()) == Some(truth.fp),
        _ => false,
    };
    let cfa = Cfa::RegisterOffset { register: base, offset };
    (is_ra_right && is_fp_right).then_some(Frame { cfa, ..*stated })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The stub `jmpq *GOT`, entered by a call: RSP is 0x1000, the return address is there, and RBP is the caller's.
    fn of_stub(stated: Frame, fields: Fields) -> Option<Frame> {
        let truth = Caller { ra: 0x401234, sp: 0x1008, fp: 0x2000 };
        let register = |register| match register {
            register if register == Abi::Amd64.sp() => Some(0x1000),
            register if register == Abi::Amd64.fp() => Some(0x2000),
            _ => None,
        };
        let word = |address| (address == 0x1000).then_some(0x401234);
        true_frame(&stated, fields, &truth, register, word)
    }

    const SP: Register = Abi::Amd64.sp();
    const STATED: Frame = Frame {
        cfa: Cfa::RegisterOffset { register: SP, offset: 16 },
        ra: Recovery::AtCfa(-8),
        fp: Recovery::Unchanged,
        ra_signed: false,
    };
    const WRONG: Fields = Fields { cfa: true, ra: true, fp: false, outermost: false };

    #[test]
    fn only_the_offset_of_the_cfa_is_wrong() {
        let cfa = Cfa::RegisterOffset { register: SP, offset: 8 };
        assert_eq!(of_stub(STATED, WRONG), Some(Frame { cfa, ..STATED }));
    }

    #[test]
    fn more_is_wrong_than_the_cfa() {
        let of = |frame, fields| assert_eq!(of_stub(frame, fields), None, "{frame:?} {fields:?}");
        of(Frame { ra: Recovery::AtCfa(-16), ..STATED }, WRONG);
        of(Frame { fp: Recovery::AtCfa(-16), ..STATED }, WRONG);
        of(STATED, Fields { fp: true, ..WRONG });
        of(STATED, Fields { cfa: false, ..WRONG });
        of(Frame { cfa: Cfa::Dereference { register: SP, offset: 16 }, ..STATED }, WRONG);
    }
}
