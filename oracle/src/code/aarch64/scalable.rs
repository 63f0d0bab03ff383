//! The effects of AArch64 instructions that move addresses by lengths of scalable vectors (FEAT_SVE; Arm Architecture Reference
//! Manual, C6.2: ADDPL, ADDVL).

use super::Instruction;
use crate::code::effect::Effect;

/// The length of a vector in lengths of predicates, which have one bit for each byte of it.
const PREDICATES_OF_VECTOR: i16 = 8;

impl Instruction {
    /// Whether the instruction is `addvl` or `addpl`.
    pub(super) const fn is_scalable_sum(&self) -> bool {
        self.bits & 0xffa0_f800 == 0x0420_5000
    }

    pub(super) fn scalable_sum(&self) -> Effect {
        let number = i16::try_from(self.signed(5, 6)).unwrap_or_default();
        let predicates = if self.bit(22) { number } else { number * PREDICATES_OF_VECTOR };
        Effect::AddPredicates { to: self.rd(), from: self.rm(), predicates }
    }
}
