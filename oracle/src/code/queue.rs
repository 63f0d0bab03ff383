//! The ways from one block to another, and the order in which blocks are executed.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::state::State;

/// A way from the end of a block to the start of another.
#[derive(Clone, Copy)]
pub(super) struct Edge {
    /// The block.
    pub(super) to: u32,
    pub(super) origin: Origin,
}

/// What a way to a block relies on, from the most to the least certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin {
    /// Nothing: the instruction continues there.
    Jump,
    /// This entry is one.
    Presumed(u64),
    /// This call returns.
    Call(u32),
}

/// Blocks to be executed, by address: most code flows downwards.
#[derive(Default)]
pub(super) struct Queue {
    waiting: BinaryHeap<Reverse<(u64, u32)>>,
    is_waiting: Vec<bool>,
    /// Edges that are followed only if there is nothing else to do: calls may not return, and entries may be none.
    deferred: BTreeMap<(u64, Origin), (Edge, Box<State>)>,
}

impl Queue {
    /// Makes room for a number of blocks.
    pub(super) fn make_room(&mut self, blocks: usize) {
        self.is_waiting.resize(blocks, false);
    }

    /// Removes everything.
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
        self.is_waiting.clear();
        self.deferred.clear();
    }

    /// Adds a block that starts at an address, unless it is waiting already.
    pub(super) fn push(&mut self, address: u64, block: u32) {
        let is_waiting = usize::try_from(block).ok().and_then(|b| self.is_waiting.get_mut(b));
        if let Some(is_waiting) = is_waiting.filter(|is_waiting| !**is_waiting) {
            *is_waiting = true;
            self.waiting.push(Reverse((address, block)));
        }
    }

    /// Takes the block with the lowest address.
    pub(super) fn pop(&mut self) -> Option<u32> {
        let Reverse((_, block)) = self.waiting.pop()?;
        if let Some(is_waiting) =
            usize::try_from(block).ok().and_then(|b| self.is_waiting.get_mut(b))
        {
            *is_waiting = false;
        }
        Some(block)
    }

    /// Adds an edge to a block at an address, to be followed later.
    pub(super) fn defer(&mut self, address: u64, edge: Edge, state: State) {
        self.deferred.insert((address, edge.origin), (edge, Box::new(state)));
    }

    /// Takes the deferred edge to the lowest address.
    pub(super) fn pop_deferred(&mut self) -> Option<(Edge, Box<State>)> {
        self.deferred.pop_first().map(|(_, deferred)| deferred)
    }
}
