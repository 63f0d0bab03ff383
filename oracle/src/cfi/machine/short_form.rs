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
                    self.cfa(register, i64::from(*low & 0x7f) | i64::from(*high) << 7);
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
