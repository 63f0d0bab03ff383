//! The fixpoint computation over one function's control-flow graph.
//!
//! The graph and the states depend on each other: only the states say where indirect jumps lead, and which jumps stay in the
//! function. So both grow in rounds. Each [`Round`] executes basic blocks until no state changes; what it discovers is added to
//! the graph, or refutes an assumption, and the next round continues from there or starts anew.

mod edges;
mod join;
mod provenance;
mod replay;
mod round;

use std::collections::{BTreeMap, BTreeSet};

use sframe_validator::Abi;

use super::block::Block;
use super::effect::{Condition, Decoder};
use super::leads::Leads;
use super::listing::Listing;
use super::scratch::{Buffers, Scratch};
use super::state::State;
use super::surroundings::{Entry, Part, Surroundings};
use super::table::Tables;
pub(super) use replay::Observer;
use round::{Discovery, Round};

/// The maximum number of rounds. After each of them, more is known about where jumps lead and which calls do not return.
const MAX_ROUNDS: usize = 24;

/// The result: a function's graph, and the abstract state before each block that is reached.
pub(super) struct Analysis<'c> {
    abi: Abi,
    listing: Listing<'c>,
    tables: Tables,
    /// The blocks that were reached. Empty before a round that starts anew.
    blocks: Vec<Option<Block>>,
    /// Jumps out of the function with the caller's registers and stack.
    tail_calls: BTreeSet<u64>,
    /// It is unknown where a jump leads: code that was not followed may enter any block.
    is_open: bool,
    /// The addresses and numbers of the blocks that were reached, ordered; empty if the function was not understood.
    order: Vec<(u64, u32)>,
}

/// What a round leaves for the next one, apart from the analysis.
struct Progress {
    entries: Vec<Entry>,
    /// The blocks whose jumps may lead elsewhere once more of the function is known.
    unfinished: Vec<u32>,
    /// The targets of indirect jumps, by instruction.
    targets: BTreeMap<u32, Vec<u64>>,
    /// Presumed entries that are none.
    refuted_entries: BTreeSet<u64>,
    /// Jumps that lead to unknown places.
    unknown_jumps: BTreeSet<u32>,
    /// The function returns with another stack than it was entered with, so its entry is not the usual one.
    is_unusual: bool,
}

impl Progress {
    fn new(entries: Vec<Entry>) -> Progress {
        Progress {
            entries,
            unfinished: Vec::new(),
            targets: BTreeMap::new(),
            refuted_entries: BTreeSet::new(),
            unknown_jumps: BTreeSet::new(),
            is_unusual: false,
        }
    }

    /// Notes that a jump of a block may lead elsewhere once more of the function is known.
    fn leave_unfinished(&mut self, block: u32) {
        if self.unfinished.last() != Some(&block) {
            self.unfinished.push(block);
        }
    }
}

impl<'c> Analysis<'c> {
    /// Analyses the function in `part` from `entries`.
    pub(super) fn compute(
        part: Part<'c>,
        entries: Vec<Entry>,
        decoder: &mut impl Decoder<'c>,
        surroundings: &impl Surroundings<'c>,
        scratch: &mut Scratch,
    ) -> Analysis<'c> {
        let mut analysis = Analysis::within(scratch.take(), surroundings.abi());
        let mut places: Vec<u64> = entries.iter().map(|entry| entry.address).collect();
        let mut progress = Progress::new(entries);
        analysis.listing.add_part(part, surroundings);
        for _ in 0..MAX_ROUNDS {
            for place in places.drain(..) {
                analysis.listing.discover(place, decoder, surroundings);
            }
            let queue = scratch.queue();
            let round = Round::new(&mut analysis, &mut progress, queue, surroundings);
            let Some(discovery) = round.execute() else { break };
            let Discovery { parts, places: found, is_refuted } = discovery;
            if found.is_empty() && parts.is_empty() && !is_refuted {
                if progress.unknown_jumps.is_empty() || analysis.is_open {
                    analysis.order = analysis.reached(&progress);
                    break;
                }
                analysis.is_open = true;
                analysis.blocks.clear();
            }
            // What was not understood may be, now that more of the function is known, and best on the first path to it.
            if is_refuted || progress.is_unusual || !progress.unknown_jumps.is_empty() {
                analysis.blocks.clear();
            }
            for place in &parts {
                analysis.listing.absorb(*place, surroundings);
            }
            places = [parts, found].concat();
        }
        analysis
    }

    /// Of no code, in buffers that are empty.
    fn within(Buffers { lists, blocks }: Buffers, abi: Abi) -> Analysis<'c> {
        Analysis {
            abi,
            listing: Listing::within(lists),
            tables: Tables::default(),
            blocks,
            tail_calls: BTreeSet::new(),
            is_open: false,
            order: Vec::new(),
        }
    }

    /// The buffers of an analysis that is no longer needed.
    pub(super) fn into_buffers(self) -> Buffers {
        Buffers { lists: self.listing.into_lists(), blocks: self.blocks }
    }

    /// Whether the function jumps to an address with the caller's registers and stack.
    pub(super) fn has_tail_call(&self, address: u64) -> bool {
        self.tail_calls.contains(&address)
    }

    /// Whether an address is in the function.
    pub(super) fn contains(&self, address: u64) -> bool {
        self.listing.contains(address)
    }

    /// Where the function leads to, found out by executing a number of blocks.
    pub(super) fn leads(&self, blocks: u64) -> Leads {
        let tail_calls = self.tail_calls.iter().copied().collect();
        Leads { tail_calls, parts: self.listing.parts().collect(), blocks }
    }

    fn block(&self, number: u32) -> Option<&Block> {
        self.blocks.get(usize::try_from(number).ok()?)?.as_ref()
    }

    fn block_mut(&mut self, number: u32) -> Option<&mut Block> {
        self.blocks.get_mut(usize::try_from(number).ok()?)?.as_mut()
    }
}

/// Continues after a conditional branch that is not taken; in a function that `is_open`, other code may enter there as well.
/// Returns false if it is always taken.
fn stay(is_open: bool, state: &mut State, condition: Condition) -> bool {
    if is_open {
        state.forget_callers();
    }
    state.refine(condition, false)
}
