//! The worklist: the basic blocks whose states have changed, and edges that are followed only when no other work is left.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::state::AbstractState;

/// An edge of the control-flow graph, to the start of a block.
#[derive(Clone, Copy)]
pub(super) struct Edge {
    /// The block.
    pub(super) to: u32,
    pub(super) assumption: Assumption,
}

/// What an edge relies on, from the most to the least certain. Where edges with contradictory states meet, the assumption
/// of the less certain one falls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Assumption {
    /// Nothing: the instruction continues there.
    Nothing,
    /// That a function is entered at this address, although nothing is known to call it.
    Entry(u64),
    /// That the function called by this instruction returns.
    CallReturns(u32),
}

/// The worklist. The block with the lowest address comes first: most code flows downwards, so that most blocks are
/// executed after all of their predecessors.
#[derive(Default)]
pub(super) struct Worklist {
    blocks: BinaryHeap<Reverse<(u64, u32)>>,
    is_listed: Vec<bool>,
    /// Edges that rely on an assumption, by address. They are followed only if no block is left, because an edge that
    /// relies on nothing may refute them.
    deferred: BTreeMap<(u64, Assumption), (Edge, Box<AbstractState>)>,
}

impl Worklist {
    /// Makes room for a number of blocks.
    pub(super) fn make_room(&mut self, blocks: usize) {
        self.is_listed.resize(blocks, false);
    }

    /// Removes everything.
    pub(super) fn clear(&mut self) {
        self.blocks.clear();
        self.is_listed.clear();
        self.deferred.clear();
    }

    /// Adds a block that starts at an address, unless it is in the list already.
    pub(super) fn push(&mut self, address: u64, block: u32) {
        let is_listed = usize::try_from(block).ok().and_then(|b| self.is_listed.get_mut(b));
        if let Some(is_listed) = is_listed.filter(|is_listed| !**is_listed) {
            *is_listed = true;
            self.blocks.push(Reverse((address, block)));
        }
    }

    /// Takes the block with the lowest address.
    pub(super) fn pop(&mut self) -> Option<u32> {
        let Reverse((_, block)) = self.blocks.pop()?;
        if let Some(is_listed) = usize::try_from(block).ok().and_then(|b| self.is_listed.get_mut(b))
        {
            *is_listed = false;
        }
        Some(block)
    }

    /// Adds an edge to a block at an address, to be followed later.
    pub(super) fn defer(&mut self, address: u64, edge: Edge, state: AbstractState) {
        self.deferred.insert((address, edge.assumption), (edge, Box::new(state)));
    }

    /// Takes the deferred edge to the lowest address.
    pub(super) fn pop_deferred(&mut self) -> Option<(Edge, Box<AbstractState>)> {
        self.deferred.pop_first().map(|(_, deferred)| deferred)
    }
}
