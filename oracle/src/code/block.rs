//! A block of a function that was reached.

use super::queue::Origin;
use super::state::State;

/// What leads to a block, and the state at its start.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) origin: Origin,
    pub(super) state: State,
}
