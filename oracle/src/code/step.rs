//! An instruction in the list of those of a function.

use super::effect::{Next, Registers};

/// No instruction, or no block.
pub(super) const NONE: u32 = u32::MAX;

/// An instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) address: u64,
    /// Bytes.
    pub(super) length: u8,
    pub(super) effect_count: u8,
    pub(super) first_effect: u32,
    /// If nothing is known about these registers, its effects change nothing.
    pub(super) subjects: Registers,
    /// A call that does not return.
    pub(super) is_final: bool,
    pub(super) next: Next,
    /// The instruction after it, or [`NONE`].
    pub(super) following: u32,
    /// The block that starts here, or [`NONE`].
    pub(super) block: u32,
    /// A jump leads back here.
    pub(super) starts_loop: bool,
}

impl Step {
    /// Whether the instruction has effects.
    pub(super) const fn has_effects(&self) -> bool {
        self.effect_count != 0
    }

    /// The address after the instruction.
    pub(super) fn end(&self) -> u64 {
        self.address.wrapping_add(u64::from(self.length))
    }
}
