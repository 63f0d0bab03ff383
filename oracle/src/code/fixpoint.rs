//! The computation of the fixpoint over one function's control-flow graph.
//!
//! The graph and the states depend on each other: only states have the targets of indirect jumps, and show which jumps
//! stay in the function. So both grow in rounds. Each [`Round`] works until the worklist is empty; what it discovers is
//! added to the graph, or refutes an assumption, and the next round continues from there or starts anew.

mod edges;
mod join;
mod loss;
mod provenance;
mod replay;
mod round;
mod way;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use sframe_validator::Abi;

use super::block::Block;
use super::context::{Entry, FileContext, Fragment};
use super::effect::{Condition, ControlFlow, Decoder, RegisterSet};
use super::graph::ControlFlowGraph;
use super::judgement::FramePart;
use super::jump_table::JumpTables;
use super::scratch::{AnalysisBuffers, ScratchBuffers};
use super::state::AbstractState;
use super::summary::FunctionSummary;
use super::unproven::Unproven;
pub(super) use loss::Loss;
pub(crate) use loss::Losses;
pub(super) use replay::Observer;
use round::{Discovery, Round};
pub use way::Arrival;
pub(super) use way::Stage;

/// The maximum number of rounds. Beyond it, nothing is claimed about the function.
const MAX_ROUNDS: usize = 24;

/// The result: a function's control-flow graph, and its fixpoint, the abstract state before each block that is reached.
pub(super) struct Analysis<'c> {
    abi: Abi,
    graph: ControlFlowGraph<'c>,
    tables: JumpTables,
    /// The reached blocks, by number. Empty before a round that starts anew.
    blocks: Vec<Option<Block>>,
    /// The targets of tail calls: jumps out of the function with the caller's registers and stack.
    tail_calls: BTreeSet<u64>,
    /// The kept registers that hold their entry values wherever the function is left, if it is known to be.
    restored: Option<RegisterSet>,
    /// The function is left with another SP than it was entered with.
    leaves_on_other_stack: bool,
    /// The targets of some jump are unknown: code that is not in the graph may enter any block.
    is_open: bool,
    /// The first indirect jump whose targets are not known, or that is taken for a tail call.
    first_unknown_jump: Option<u64>,
    /// Why nothing is claimed, if there is no fixpoint that can be trusted.
    failure: Unproven,
    /// Where the function is entered, in the order of addresses.
    entries: Vec<Entry>,
    /// The targets of indirect jumps, by the number of the instruction.
    targets: BTreeMap<u32, Vec<u64>>,
    /// The addresses and numbers of the reached blocks, ordered. Empty if there is no fixpoint that can be trusted.
    order: Vec<(u64, u32)>,
}

/// What a round leaves for the next one, apart from the analysis.
struct Progress {
    entries: Vec<Entry>,
    /// The blocks whose jumps may have other targets once more of the graph is known.
    unfinished: Vec<u32>,
    /// The targets of indirect jumps, by the number of the instruction.
    targets: BTreeMap<u32, Vec<u64>>,
    /// Presumed entries whose assumption fell.
    refuted_entries: BTreeSet<u64>,
    /// The indirect jumps without known targets.
    unknown_jumps: BTreeSet<u32>,
    /// Those that are taken for tail calls.
    indirect_tail_calls: BTreeSet<u32>,
    /// The function returns with another stack than it was entered with, so its entry is not the usual one.
    has_unusual_entry: bool,
}

impl Progress {
    fn new(entries: Vec<Entry>) -> Progress {
        Progress {
            entries,
            unfinished: Vec::new(),
            targets: BTreeMap::new(),
            refuted_entries: BTreeSet::new(),
            unknown_jumps: BTreeSet::new(),
            indirect_tail_calls: BTreeSet::new(),
            has_unusual_entry: false,
        }
    }

    /// Notes that a jump of a block may have other targets once more of the graph is known.
    fn leave_unfinished(&mut self, block: u32) {
        if self.unfinished.last() != Some(&block) {
            self.unfinished.push(block);
        }
    }
}

impl<'c> Analysis<'c> {
    /// Analyses the function in `fragment` from `entries`.
    pub(super) fn compute(
        fragment: Fragment<'c>,
        entries: Vec<Entry>,
        decoder: &mut impl Decoder<'c>,
        context: &impl FileContext<'c>,
        scratch: &mut ScratchBuffers,
    ) -> Analysis<'c> {
        let mut analysis = Analysis::within(scratch.take(), context.abi());
        let mut addresses: Vec<u64> = entries.iter().map(|entry| entry.address).collect();
        let mut progress = Progress::new(entries);
        analysis.graph.add_fragment(fragment, context);
        for _ in 0..MAX_ROUNDS {
            for address in addresses.drain(..) {
                analysis.graph.discover(address, decoder, context);
            }
            let worklist = scratch.worklist();
            let round = Round::new(&mut analysis, &mut progress, worklist, context);
            let Some(discovery) = round.execute() else { break };
            let Discovery { fragments, undecoded, is_refuted } = discovery;
            if undecoded.is_empty() && fragments.is_empty() && !is_refuted {
                if progress.unknown_jumps.is_empty() || analysis.is_open {
                    (analysis.order, analysis.failure) = analysis.reached(&progress);
                    analysis.settle_stack();
                    break;
                }
                analysis.is_open = true;
                analysis.blocks.clear();
            }
            // States that were computed without a part of the graph are less precise than those of a new start.
            if is_refuted || progress.has_unusual_entry || !progress.unknown_jumps.is_empty() {
                analysis.blocks.clear();
            }
            for fragment in &fragments {
                analysis.graph.absorb(*fragment, context);
            }
            addresses = [fragments, undecoded].concat();
        }
        let jumps = progress.unknown_jumps.union(&progress.indirect_tail_calls);
        let jumps = jumps.filter_map(|number| analysis.graph.step(*number));
        analysis.first_unknown_jump = jumps.map(|step| step.address).min();
        (analysis.entries, analysis.targets) = (progress.entries, progress.targets);
        analysis.entries.sort_by_key(|entry| entry.address);
        analysis
    }

    /// An analysis of no code yet, in buffers that are empty.
    fn within(AnalysisBuffers { graph, blocks }: AnalysisBuffers, abi: Abi) -> Analysis<'c> {
        Analysis {
            abi,
            graph: ControlFlowGraph::within(graph),
            tables: JumpTables::default(),
            blocks,
            tail_calls: BTreeSet::new(),
            restored: None,
            leaves_on_other_stack: false,
            is_open: false,
            first_unknown_jump: None,
            failure: Unproven::LimitReached,
            entries: Vec::new(),
            targets: BTreeMap::new(),
            order: Vec::new(),
        }
    }

    /// The buffers of an analysis that is no longer needed.
    pub(super) fn into_buffers(self) -> AnalysisBuffers {
        AnalysisBuffers { graph: self.graph.into_buffers(), blocks: self.blocks }
    }

    /// Whether the function has a tail call to an address.
    pub(super) fn has_tail_call(&self, address: u64) -> bool {
        self.tail_calls.contains(&address)
    }

    /// Why code that starts at an address is not reached, although it is in the function and no padding, and the address of the
    /// instruction to blame.
    pub(super) fn why_not_reached(&self, address: u64) -> Loss {
        let is_entry = self.entries.binary_search_by_key(&address, |entry| entry.address).is_ok();
        if self.order.is_empty() {
            (self.failure, None)
        } else if let Some(undecoded) = self.graph.undecoded_before(address) {
            (Unproven::NotDecoded, Some(undecoded))
        } else if is_entry {
            (Unproven::UnknownEntry, None)
        } else if let Some(jump) = self.first_unknown_jump {
            (Unproven::IndirectJump, Some(jump))
        } else {
            (Unproven::NoPath, None)
        }
    }

    /// Why a part of the frame is not known before an instruction, and the address of the instruction to blame. `None` if it is known.
    /// `number` distinguishes this analysis from the others of the function.
    pub(super) fn loss(
        &mut self,
        number: usize,
        address: u64,
        part: FramePart,
        losses: &mut Losses,
    ) -> Option<Loss> {
        match self.is_open {
            true => Some((Unproven::IndirectJump, self.first_unknown_jump)),
            false => losses.find((number, self), address, part),
        }
    }

    /// Whether the function writes any of `registers`.
    pub(super) fn writes(&self, registers: RegisterSet) -> bool {
        self.blocks.iter().flatten().any(|block| block.changes.meet(registers))
    }

    /// The kept registers that the function is known to restore.
    pub(super) fn restored(&self) -> RegisterSet {
        self.restored.unwrap_or_default()
    }

    /// Notes that the function is left in a state.
    fn leave(&mut self, state: &AbstractState) {
        let restored = state.restored();
        self.restored = Some(self.restored.map_or(restored, |known| known.and(restored)));
        self.leaves_on_other_stack |= !state.is_on_entry_stack();
    }

    /// Notes in the states of all blocks whether the function returns on the stack on which it was entered.
    fn settle_stack(&mut self) {
        if self.restored.is_some() && !self.leaves_on_other_stack && !self.is_open {
            let blocks = self.blocks.iter_mut().flatten();
            blocks.for_each(|block| block.state.returns_to_own_stack = true);
        }
    }

    /// Whether a return instruction in a range of addresses is reached.
    pub(super) fn returns_from(&self, range: &Range<u64>) -> bool {
        let blocks = self.order.iter().filter(|(start, _)| range.contains(start));
        let mut steps = blocks.flat_map(|(_, block)| self.steps_of(*block));
        steps.any(|(_, step)| step.next == ControlFlow::Return)
    }

    /// Whether an address is in the function.
    pub(super) fn contains(&self, address: u64) -> bool {
        self.graph.contains(address)
    }

    /// The summary of the function, for which a number of blocks was executed.
    pub(super) fn summarize(&self, blocks: u64) -> FunctionSummary {
        let tail_calls = self.tail_calls.iter().copied().collect();
        FunctionSummary { tail_calls, fragments: self.graph.fragments().collect(), blocks }
    }

    /// Refines a state by a conditional branch that is not taken; in an open function, other code may enter after it as well.
    /// Returns false if the branch is always taken.
    fn fall_through(&self, state: &mut AbstractState, condition: Condition) -> bool {
        if self.is_open {
            state.forget_entry_values();
        }
        state.refine(condition.negated())
    }

    fn block(&self, number: u32) -> Option<&Block> {
        self.blocks.get(usize::try_from(number).ok()?)?.as_ref()
    }

    fn block_mut(&mut self, number: u32) -> Option<&mut Block> {
        self.blocks.get_mut(usize::try_from(number).ok()?)?.as_mut()
    }
}
