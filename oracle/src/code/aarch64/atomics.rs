//! The effects of AArch64 instructions that access memory in an order, exclusively, or atomically (Arm Architecture Reference
//! Manual, C4.1 "Loads and stores"; FEAT_LSE, FEAT_LSE128, FEAT_LRCPC3, FEAT_THE).

use disarm64_defn::{InsnClass, InsnOperandKind};

use super::{Instruction, SP, vectors};
use crate::code::effect::{Effect, NO_REGISTER};

impl Instruction {
    /// An access to memory whose results are unknown, or one of FEAT_LRCPC3.
    pub(super) fn access_atomically(&self, effects: &mut Vec<Effect>) {
        match self.class {
            InsnClass::RCPC3 if !self.bit(26) => return self.access_in_order(effects),
            InsnClass::RCPC3 if self.bit(22) => {
                effects.extend(vectors::load_anything(self.rd()));
                return;
            }
            InsnClass::RCPC3 => {}
            _ => effects.push(Effect::Clobber(self.atomic_results() & !(1 << SP))),
        }
        let size = self.atomic_bytes();
        effects.push(Effect::Store { from: NO_REGISTER, base: self.rn(), offset: 0, size });
    }

    /// The number of bytes that an access may write.
    fn atomic_bytes(&self) -> u8 {
        let is_exclusive_pair = self.class == InsnClass::LDSTEXCL && self.bit(21);
        let is_wide =
            matches!(self.class, InsnClass::LSE128_ATOMIC | InsnClass::THE | InsnClass::RCPC3);
        match self.has_operand(InsnOperandKind::Rt_LS64) {
            true => 64,
            _ if is_wide || is_exclusive_pair || self.has_operand(InsnOperandKind::PAIRREG) => 16,
            _ => 1 << self.field(30, 2),
        }
    }

    fn has_operand(&self, kind: InsnOperandKind) -> bool {
        self.operands.iter().any(|operand| operand.kind == kind)
    }

    /// The registers that an atomic or exclusive access may write.
    fn atomic_results(&self) -> u32 {
        let has = |kind| self.has_operand(kind);
        let registers = if has(InsnOperandKind::PAIRREG) { 0b11 } else { 1 };
        let (rt, rs) = (registers << self.rd(), registers << self.rm());
        let is_compare_and_swap = self.field(24, 6) == 0b00_1000;
        match self.class {
            InsnClass::LSE_ATOMIC if is_compare_and_swap => rs,
            // `ld64b` loads eight registers.
            InsnClass::LSE_ATOMIC if has(InsnOperandKind::Rt_LS64) => 0xff << self.rd(),
            InsnClass::LSE_ATOMIC => rt,
            // Loads write one or two registers, exclusive stores a status, others nothing.
            InsnClass::LDSTEXCL if self.bit(22) => rt | 1 << self.register(10),
            InsnClass::LDSTEXCL if !self.bit(23) => rs,
            InsnClass::LDSTEXCL => 0,
            _ => rt | rs,
        }
    }

    /// `ldiapp`, `stilp`, `ldapr` and `stlr`, which may move their base by what they access.
    fn access_in_order(&self, effects: &mut Vec<Effect>) {
        let rn = self.rn();
        let is_pair = self.operands.len() == 3;
        // With one register, these are the forms that move the base.
        let moves_base = !is_pair || self.field(12, 4) == 0;
        let (is_load, is_whole) = (self.bit(22), self.bit(30));
        let size: u8 = if is_whole { 8 } else { 4 };
        let second = i32::from(size);
        let bytes = if is_pair { 2 * second } else { second };
        let mut registers = vec![(self.rd(), 0)];
        registers.extend(is_pair.then_some((self.rm(), second)));
        // A load may overwrite its base.
        registers.sort_by_key(|(register, _)| *register == rn);
        if moves_base && !is_load {
            effects.push(Effect::Copy { to: rn, from: rn, plus: -bytes });
        }
        for (register, offset) in registers {
            effects.push(match (is_load, is_whole) {
                (true, true) if register != SP => Effect::Load { to: register, base: rn, offset },
                (true, _) => Self::clobber(register),
                (false, _) => {
                    let from = if is_whole { Self::source(register) } else { NO_REGISTER };
                    Effect::Store { from, base: rn, offset, size }
                }
            });
        }
        if moves_base && is_load {
            effects.push(Effect::Copy { to: rn, from: rn, plus: bytes });
        }
    }
}
