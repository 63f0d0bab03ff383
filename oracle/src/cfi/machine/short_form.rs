//! Decodes and executes in one step the instructions that compilers write in nearly every function, with short
//! operands.

use gimli::{Endianity, Reader};
use sframe_validator::unwind::{Recovery, Register};

use super::{Machine, Standing, factored};
use crate::cfi::pointer::Slice;
use crate::cfi::state::State;

/// `DW_CFA_nop`.
const NOP: u8 = 0x00;
/// `DW_CFA_advance_loc1`.
const ADVANCE_LOC1: u8 = 0x02;
/// `DW_CFA_advance_loc2`.
const ADVANCE_LOC2: u8 = 0x03;
/// `DW_CFA_remember_state`.
const REMEMBER_STATE: u8 = 0x0a;
/// `DW_CFA_restore_state`.
const RESTORE_STATE: u8 = 0x0b;
/// `DW_CFA_def_cfa`.
const DEF_CFA: u8 = 0x0c;
/// `DW_CFA_def_cfa_register`.
const DEF_CFA_REGISTER: u8 = 0x0d;
/// `DW_CFA_def_cfa_offset`.
const DEF_CFA_OFFSET: u8 = 0x0e;

impl Machine<'_> {
    /// Executes instructions up to and including the next advance. Returns the number of bytes of code that it
    /// advances. Stops with `None` before an instruction that compilers rarely write, before one with a long operand,
    /// and before an advance of more than `limit` bytes.
    ///
    /// Decoding them here, without building an [`Instruction`](crate::cfi::Instruction) and with the position kept in
    /// registers, takes half the time.
    #[inline(always)]
    pub(crate) fn until_advance(
        &mut self,
        limit: u64,
        states: &mut Vec<State>,
        standing: Standing,
    ) -> Option<u64> {
        let endian = self.instructions.input.endian();
        let mut rest = self.instructions.input.slice();
        let bytes = loop {
            let (delta, after) = match rest {
                [code @ 0x40..=0x7f, after @ ..] => (u16::from(code & 0x3f), after),
                [ADVANCE_LOC1, delta, after @ ..] => (u16::from(*delta), after),
                [ADVANCE_LOC2, first, second, after @ ..] => {
                    (endian.read_u16(&[*first, *second]), after)
                }
                [code @ 0x80..=0xbf, operand @ ..0x80, after @ ..] => {
                    let register = Register(u32::from(code & 0x3f));
                    if self.wants(register) {
                        let Ok(offset) = factored(i64::from(*operand), self.data_factor) else {
                            break None;
                        };
                        self.set(register, Recovery::AtCfa(offset));
                    }
                    rest = after;
                    continue;
                }
                [DEF_CFA_OFFSET, operand @ ..0x80, after @ ..] => {
                    let Ok((register, _)) = self.cfa_parts() else { break None };
                    self.cfa(register, i64::from(*operand));
                    rest = after;
                    continue;
                }
                [DEF_CFA_OFFSET, low @ 0x80..=0xff, high @ ..0x80, after @ ..] => {
                    let Ok((register, _)) = self.cfa_parts() else { break None };
                    let high = i64::from(*high).saturating_mul(0x80);
                    self.cfa(register, high.saturating_add(i64::from(*low & 0x7f)));
                    rest = after;
                    continue;
                }
                [REMEMBER_STATE, after @ ..] => {
                    let Ok(()) = self.remember(states, standing) else { break None };
                    rest = after;
                    continue;
                }
                [RESTORE_STATE, after @ ..] => {
                    let Ok(()) = self.restore_state(states) else { break None };
                    rest = after;
                    continue;
                }
                [DEF_CFA_REGISTER, register @ ..0x80, after @ ..] => {
                    let Ok((_, offset)) = self.cfa_parts() else { break None };
                    self.cfa(Register(u32::from(*register)), offset);
                    rest = after;
                    continue;
                }
                [DEF_CFA, register @ ..0x80, offset @ ..0x80, after @ ..] => {
                    self.cfa(Register(u32::from(*register)), i64::from(*offset));
                    rest = after;
                    continue;
                }
                [NOP, after @ ..] => {
                    rest = after;
                    continue;
                }
                _ => break None,
            };
            let bytes = self.bytes_of(delta.into()).filter(|bytes| *bytes <= limit);
            if bytes.is_some() {
                rest = after;
            }
            break bytes;
        };
        self.instructions.input = Slice::new(rest, endian);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use sframe_validator::Abi;

    use crate::cfi::machine::{Machine, Standing};
    use crate::cfi::{Cfi, Kind};

    /// Executes the short forms at the start of a program, whose CFA is R7+8. Returns the advance, the rest of the
    /// program, and the frame.
    fn run(program: &[u8]) -> (Option<u64>, Vec<u8>, String) {
        let length = u32::try_from(20 + program.len()).expect("short").to_le_bytes();
        let cie = [14, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1];
        let head = [length, 22_u32.to_le_bytes()].concat();
        let range = [0x1000_u64.to_le_bytes(), 16_u64.to_le_bytes()].concat();
        let bytes = [cie.as_slice(), &head, &range, program].concat();
        let cfi = Cfi::from_bytes(&bytes, Kind::EhFrame, 0, Abi::Amd64);
        let function = cfi.functions().next().expect("one function");
        let initial = function.cie().initial.as_ref().ok();
        let mut machine =
            Machine::new(function.instructions(), function.cie(), Abi::Amd64, initial);
        let standing = Standing { at_start: true, in_first_row: true };
        let advance = machine.until_advance(1000, &mut Vec::new(), standing);
        let rest = machine.instructions.input.slice().to_vec();
        (advance, rest, machine.state.frame.to_string())
    }

    /// Each instruction is executed here, and not left to [`Machine::step`], up to and including an advance of one byte.
    /// The values are those of DWARF 5 6.4.2 and 7.24, with a data alignment of -8.
    #[test]
    fn short_forms_are_executed_without_a_stop() {
        for (program, frame) in [
            (&[][..], "CFA=r7+8 RA=*(CFA-8) FP=unchanged"),
            (&[0], "CFA=r7+8 RA=*(CFA-8) FP=unchanged"),
            (&[0x86, 2], "CFA=r7+8 RA=*(CFA-8) FP=*(CFA-16)"),
            (&[0x90, 0x7f], "CFA=r7+8 RA=*(CFA-1016) FP=unchanged"),
            (&[0x83, 2], "CFA=r7+8 RA=*(CFA-8) FP=unchanged"),
            (&[0x0e, 0x7f], "CFA=r7+127 RA=*(CFA-8) FP=unchanged"),
            (&[0x0e, 0x85, 0x7f], "CFA=r7+16261 RA=*(CFA-8) FP=unchanged"),
            (&[0x0d, 0x7f], "CFA=r127+8 RA=*(CFA-8) FP=unchanged"),
            (&[0x0c, 6, 16], "CFA=r6+16 RA=*(CFA-8) FP=unchanged"),
            (&[0x0a, 0x0e, 16, 0x0b], "CFA=r7+8 RA=*(CFA-8) FP=unchanged"),
        ] {
            let (advance, rest, found) = run(&[program, &[0x41, 0x0e, 99]].concat());
            assert_eq!((advance, found.as_str()), (Some(1), frame), "{program:x?}");
            assert_eq!(rest, [0x0e, 99]);
        }
    }

    #[test]
    fn advances_of_each_short_form() {
        for (advance, bytes) in [
            (&[0x40][..], 0),
            (&[0x41], 1),
            (&[0x7f], 0x3f),
            (&[0x02, 0xff], 0xff),
            (&[0x03, 0xe8, 3], 1000),
        ] {
            assert_eq!(run(&[advance, &[0]].concat()).0, Some(bytes), "{advance:x?}");
        }
        // More than the limit, a long operand, a rare instruction, one that fails, one that is cut off, and the end.
        for rest in [
            &[0x03, 0xe9, 3][..],
            &[0x04, 1, 0, 0, 0],
            &[0x0e, 0x80, 0x80, 1],
            &[0x86, 0x80, 1],
            &[0x0d, 0x80, 1],
            &[0x0c, 7, 0x80, 1],
            &[0x08, 6],
            &[0x0b],
            &[0x02],
            &[],
        ] {
            let (advance, left, _) = run(&[&[0x0e, 16], rest].concat());
            assert_eq!((advance, left.as_slice()), (None, rest));
        }
    }
}
