//! The effects of AArch64 instructions on memory tags (FEAT_MTE; Arm Architecture Reference Manual, C6.2: ADDG, LDG, ST2G, STG,
//! STZ2G, STZG, SUBG). `stgp` is a store of two registers: `semantics.rs`.

use super::Instruction;
use crate::code::effect::{Effect, NO_REGISTER};

/// The bytes of memory that have one tag, in which distances are counted.
pub(super) const GRANULE: i32 = 16;

impl Instruction {
    /// Whether an addition of a number is `addg` or `subg`.
    pub(super) const fn is_tagged_sum(&self) -> bool {
        self.bit(23)
    }

    /// `addg` and `subg` add granules to an address, and change its tag if the second number is not 0.
    pub(super) fn tagged_sum(&self) -> Effect {
        let bytes = self.field(16, 6).cast_signed() * GRANULE;
        match self.field(10, 4) {
            0 => {
                let plus = if self.bit(30) { -bytes } else { bytes };
                Effect::Copy { to: self.rd(), from: self.rn(), plus }
            }
            _ => Effect::Clobber(1 << self.rd()),
        }
    }

    /// Whether a load or store is one of tags.
    pub(super) const fn is_tag_access(&self) -> bool {
        self.field(24, 8) == 0xd9 && self.bit(21)
    }

    /// `ldg`, `stg`, `st2g`, and `stzg` and `stz2g`, which also clear the memory.
    pub(super) fn access_tags(&self, effects: &mut Vec<Effect>) {
        const LOAD: u32 = 0;
        const AFTER: u32 = 1;
        const BEFORE: u32 = 3;
        let (rn, distance) = (self.rn(), self.signed(12, 9) * GRANULE);
        let mode = self.field(10, 2);
        if mode == LOAD {
            effects.push(Self::clobber(self.rd()));
            return;
        }
        let change = Effect::Copy { to: rn, from: rn, plus: distance };
        effects.extend((mode == BEFORE).then_some(change));
        if self.bit(22) {
            let offset = if matches!(mode, AFTER | BEFORE) { 0 } else { distance };
            let size = if self.bit(23) { 32 } else { 16 };
            effects.push(Effect::Store { from: NO_REGISTER, base: rn, offset, size });
        }
        effects.extend((mode == AFTER).then_some(change));
    }
}
