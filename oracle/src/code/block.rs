//! Basic blocks.

use super::effect::RegisterSet;
use super::state::AbstractState;
use super::step::NO_INDEX;
use super::worklist::Assumption;

/// A basic block that is reached: instructions that are entered only at the first one. Conditional branches may leave it
/// before its end, since the state that they refine is that of the block.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// What the most certain edge to the block relies on.
    pub(super) assumption: Assumption,
    /// The join of the states on all edges to the block.
    pub(super) state: AbstractState,
    /// The last instruction that was executed, or [`NO_INDEX`].
    pub(super) last: u32,
    /// The registers that differ before some of its instructions, and [`RegisterSet::FRAME`] if the stack does.
    pub(super) changes: RegisterSet,
}

impl Block {
    /// A block that was entered for the first time.
    pub(super) fn entered(assumption: Assumption, state: AbstractState) -> Block {
        Block { assumption, state, last: NO_INDEX, changes: RegisterSet::ALL }
    }
}
