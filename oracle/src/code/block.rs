//! A block of a function that was reached.

use super::queue::Origin;
use super::state::State;
use super::step::NONE;

/// What leads to a block, the state at its start, and what its execution found out.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) origin: Origin,
    pub(super) state: State,
    /// The last instruction that was executed, or [`NONE`].
    pub(super) last: u32,
    /// SP, FP, RA and the stack were the same before each instruction.
    pub(super) is_steady: bool,
}

impl Block {
    /// A block that is to be executed.
    pub(super) fn entered(origin: Origin, state: State) -> Block {
        Block { origin, state, last: NONE, is_steady: false }
    }
}
