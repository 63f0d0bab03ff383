//! A decoded instruction in the control-flow graph.

use super::effect::{ControlFlow, RegisterSet};

/// The number of no instruction, and of no block.
pub(super) const NO_INDEX: u32 = u32::MAX;

/// An instruction. Its effects, in a list of the graph, are its transfer function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) address: u64,
    /// In bytes.
    pub(super) length: u8,
    pub(super) effect_count: u8,
    pub(super) first_effect: u32,
    /// The transfer function is the identity on a state in which all of these registers are unknown.
    pub(super) subjects: RegisterSet,
    /// A call that does not return.
    pub(super) never_returns: bool,
    /// Where control goes.
    pub(super) next: ControlFlow,
    /// The number of the instruction after it, or [`NO_INDEX`].
    pub(super) following: u32,
    /// The number of the block that starts here, or [`NO_INDEX`].
    pub(super) block: u32,
    /// A back edge leads here.
    pub(super) starts_loop: bool,
}

impl Step {
    /// Whether the instruction has effects.
    pub(super) const fn has_effects(&self) -> bool {
        self.effect_count != 0
    }

    /// Whether control may go on after the instruction.
    pub(super) const fn goes_on(&self) -> bool {
        match self.next {
            ControlFlow::Following | ControlFlow::SystemCall | ControlFlow::Branch(..) => true,
            ControlFlow::Call(_) | ControlFlow::IndirectCall | ControlFlow::CallBy(_) => {
                !self.never_returns
            }
            ControlFlow::Jump(_)
            | ControlFlow::Indirect(_)
            | ControlFlow::NoReturnCall
            | ControlFlow::Return
            | ControlFlow::Stop => false,
        }
    }

    /// The address after the instruction.
    pub(super) fn end(&self) -> u64 {
        self.address.wrapping_add(u64::from(self.length))
    }
}
