//! The effects of AArch64 instructions on D8 to D15, the lower halves of V8 to V15, which functions keep for their callers
//! (AAPCS64 6.1.2). What is in other vector registers does not matter for unwinding.

use disarm64_defn::{InsnClass, InsnOperandKind};

use super::{Instruction, SP};
use crate::code::effect::{Effect, FIRST_VECTOR, NO_REGISTER, RegisterNumber};

/// A distance from a base at which no register is saved, because it is not aligned.
const NOWHERE: i32 = 1;

/// The register number of the lower half of a vector register; [`NO_REGISTER`] if functions need not keep it.
pub(super) fn lower_half(register: RegisterNumber) -> RegisterNumber {
    match register.checked_sub(8) {
        Some(number @ 0..8) => FIRST_VECTOR.saturating_add(number),
        _ => NO_REGISTER,
    }
}

/// The effect of a load of a vector register, of which the lower half comes from `base + offset`.
pub(super) fn load(register: RegisterNumber, base: RegisterNumber, offset: i32) -> Option<Effect> {
    let to = lower_half(register);
    (to != NO_REGISTER).then_some(Effect::Load { to, base, offset })
}

/// The effect of a load of a vector register whose lower half may come from any slot.
pub(super) fn load_anything(register: RegisterNumber) -> Option<Effect> {
    load(register, SP, NOWHERE)
}

/// The register whose value a store of `1 << scale` bytes of a vector register saves.
pub(super) fn stored(register: RegisterNumber, scale: u32) -> RegisterNumber {
    if scale == 3 { lower_half(register) } else { NO_REGISTER }
}

/// The effect of an instruction that computes the content of a vector register.
fn overwrite(register: RegisterNumber) -> Option<Effect> {
    let to = lower_half(register);
    (to != NO_REGISTER).then_some(Effect::Copy { to, from: NO_REGISTER, plus: 0 })
}

impl Instruction {
    /// `ld1` to `ld4` and `st1` to `st4`.
    pub(super) fn access_vectors(&self, effects: &mut Vec<Effect>) {
        let rn = self.rn();
        let is_whole = matches!(self.class, InsnClass::ASISDLSE | InsnClass::ASISDLSEP);
        let (count, is_contiguous) = self.whole_registers();
        let bytes = match is_whole {
            true => count * self.register_bytes(),
            false => self.bytes_of_elements(),
        };
        if is_whole && is_contiguous {
            self.access_contiguously(count, effects);
        } else if self.bit(22) {
            self.write_vectors(effects);
        } else {
            effects.push(Effect::Store { from: NO_REGISTER, base: rn, offset: 0, size: bytes });
        }
        if matches!(self.class, InsnClass::ASISDLSEP | InsnClass::ASISDLSOP) {
            effects.push(match self.rm() {
                SP => Effect::Copy { to: rn, from: rn, plus: bytes.into() },
                _ => Effect::Clobber(1 << rn),
            });
        }
    }

    /// `ld1` and `st1` of whole registers: one comes after the other in memory.
    fn access_contiguously(&self, count: u8, effects: &mut Vec<Effect>) {
        let base = self.rn();
        for (number, offset) in (0..count).zip((0..).step_by(self.register_bytes().into())) {
            let register = self.rd().wrapping_add(number) & 31;
            if self.bit(22) {
                effects.extend(load(register, base, offset));
                continue;
            }
            effects.push(Effect::Store { from: lower_half(register), base, offset, size: 8 });
            if self.bit(30) {
                let offset = offset + 8;
                effects.push(Effect::Store { from: NO_REGISTER, base, offset, size: 8 });
            }
        }
    }

    /// The bytes of each register that an instruction loads or stores as a whole.
    const fn register_bytes(&self) -> u8 {
        if self.bit(30) { 16 } else { 8 }
    }

    /// The number of registers that an instruction loads or stores as a whole, and whether one comes after the other in memory.
    fn whole_registers(&self) -> (u8, bool) {
        match self.field(12, 4) {
            0 => (4, false),
            2 => (4, true),
            4 => (3, false),
            6 => (3, true),
            7 => (1, true),
            8 => (2, false),
            _ => (2, true),
        }
    }

    /// The bytes of memory that an instruction accesses for one element of each of its registers.
    fn bytes_of_elements(&self) -> u8 {
        const REPLICATE: u32 = 3;
        let registers = (self.field(13, 1) << 1 | self.field(21, 1)) + 1;
        let size = match self.field(14, 2) {
            REPLICATE => self.field(10, 2),
            2 => 2 + self.field(10, 1),
            scale => scale,
        };
        u8::try_from(registers << size).unwrap_or(u8::MAX)
    }

    /// The effects of loads of several vector registers, and of other instructions that write one.
    pub(super) fn write_vectors(&self, effects: &mut Vec<Effect>) {
        let Some(first) = self.operands.first() else { return };
        let count: RegisterNumber = match first.kind {
            InsnOperandKind::Fd
            | InsnOperandKind::Sd
            | InsnOperandKind::Vd
            | InsnOperandKind::VdD1
            | InsnOperandKind::Ed
            | InsnOperandKind::SVE_Vd
            | InsnOperandKind::SVE_Zd => 1,
            InsnOperandKind::Ft if self.class == InsnClass::LOADLIT => 1,
            InsnOperandKind::LVt
            | InsnOperandKind::LVt_AL
            | InsnOperandKind::LEt
            | InsnOperandKind::SVE_Zt
            | InsnOperandKind::SVE_ZtxN => 4,
            _ => return,
        };
        let may_restore = count > 1 || self.is_vector_move();
        for number in 0..count {
            let register = self.rd().wrapping_add(number) & 31;
            effects.extend(match may_restore {
                true => load_anything(register),
                false => overwrite(register),
            });
        }
    }

    /// Whether an instruction only moves a value from another register.
    fn is_vector_move(&self) -> bool {
        match self.class {
            // `fmov`, `mov` of an element, `orr`, and `dup`.
            InsnClass::FLOATDP1 => self.field(15, 6) == 0,
            InsnClass::FLOAT2INT | InsnClass::ASIMDINS | InsnClass::ASISDONE => true,
            InsnClass::ASIMDSAME => self.rn() == self.rm(),
            _ => false,
        }
    }
}
