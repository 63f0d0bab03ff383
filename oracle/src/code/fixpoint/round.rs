//! A round: takes blocks from the worklist, executes them, and follows their edges, until no state changes.

use std::collections::BTreeSet;

use super::{Analysis, Progress};
use crate::code::block::Block;
use crate::code::context::{Entry, EntryKind, FileContext};
use crate::code::effect::{Condition, ControlFlow, RegisterSet};
use crate::code::state::AbstractState;
use crate::code::step::{NO_INDEX, Step};
use crate::code::unproven::Unproven;
use crate::code::value::PackedValue;
use crate::code::worklist::{Assumption, Edge, Worklist};

/// The maximum number of times, on average, that blocks are executed in a round.
const MAX_VISITS_PER_BLOCK: usize = 64;

/// What a round discovers: code by which the graph has to grow, and whether an assumption fell.
#[derive(Default)]
pub(super) struct Discovery {
    /// Targets in the function that are not decoded.
    pub(super) undecoded: Vec<u64>,
    /// Targets outside of it, of jumps that are no tail calls because the frame still exists: they are fragments of the
    /// function.
    pub(super) fragments: Vec<u64>,
    /// An assumption fell.
    pub(super) is_refuted: bool,
}

/// One round, with what it works on.
pub(super) struct Round<'r, 'c, C> {
    pub(super) analysis: &'r mut Analysis<'c>,
    pub(super) progress: &'r mut Progress,
    pub(super) worklist: &'r mut Worklist,
    pub(super) context: &'r C,
    pub(super) discovery: Discovery,
    /// The indirect jumps whose targets were looked up, and the tables.
    pub(super) resolved: BTreeSet<(u32, u32)>,
}

/// A position in a block that is executed.
struct Cursor {
    block: u32,
    /// The number of the instruction.
    at: u32,
    /// What SP held when it was looked at last.
    sp: PackedValue,
}

/// The result of a straight run of transfer functions.
struct Transferred {
    /// The last instruction.
    last: Step,
    /// Whether one of those after which control goes straight on has effects.
    has_effects: bool,
}

impl<'r, 'c, C: FileContext<'c>> Round<'r, 'c, C> {
    pub(super) fn new(
        analysis: &'r mut Analysis<'c>,
        progress: &'r mut Progress,
        worklist: &'r mut Worklist,
        context: &'r C,
    ) -> Round<'r, 'c, C> {
        let (discovery, resolved) = Default::default();
        Round { analysis, progress, worklist, context, discovery, resolved }
    }

    /// Works until the worklist is empty. `None` if the budget does not suffice.
    pub(super) fn execute(mut self) -> Option<Discovery> {
        if self.analysis.graph.is_too_large() {
            return None;
        }
        self.worklist.make_room(self.analysis.graph.block_count());
        if self.analysis.blocks.is_empty() {
            self.start();
        } else {
            self.resume();
        }
        let blocks = self.analysis.blocks.len().saturating_add(1);
        let mut visits = blocks.saturating_mul(MAX_VISITS_PER_BLOCK);
        loop {
            while let Some(block) = self.worklist.pop() {
                visits = visits.checked_sub(1).filter(|_| self.context.spend())?;
                self.execute_block(block);
            }
            let Some((edge, state)) = self.worklist.pop_deferred() else { break };
            self.enter(edge, &state);
        }
        self.discovery.undecoded.sort_unstable();
        self.discovery.undecoded.dedup();
        self.discovery.is_refuted |= self.refute_returns();
        Some(self.discovery)
    }

    /// Starts at the function's entries.
    fn start(&mut self) {
        let Analysis { blocks, graph, tables, abi, .. } = &mut *self.analysis;
        blocks.resize_with(graph.block_count(), || None);
        tables.clear();
        let mut entry = AbstractState::entry(*abi, self.context.conventions());
        if !self.context.has_red_zone() {
            entry.red_zone = 0;
        }
        self.progress.unfinished.clear();
        self.progress.unknown_jumps.clear();
        self.progress.indirect_tail_calls.clear();
        self.progress.has_unusual_entry = false;
        self.analysis.restored = None;
        self.analysis.leaves_on_other_stack = false;
        for Entry { address, kind } in self.progress.entries.clone() {
            let graph = &self.analysis.graph;
            let step = graph.step_at(address).and_then(|step| graph.step(step));
            let Some(to) = step.map(|step| step.block) else { continue };
            let mut entry = entry.clone();
            match kind {
                EntryKind::LocalCall => entry.doubt = Some(Unproven::UnknownEntry),
                EntryKind::SignalReturn => entry.become_signal_return(self.context.conventions()),
                EntryKind::Call | EntryKind::Presumed => {}
            }
            if kind != EntryKind::Presumed {
                self.join(Edge { to, assumption: Assumption::Nothing }, &entry);
            } else if !self.progress.refuted_entries.contains(&address) {
                let edge = Edge { to, assumption: Assumption::Entry(address) };
                self.worklist.defer(address, edge, entry);
            }
        }
    }

    /// Continues after the graph has grown: lists the blocks again whose edges are others now, or that have become shorter.
    fn resume(&mut self) {
        let Analysis { blocks, graph, .. } = &mut *self.analysis;
        let before = blocks.len();
        blocks.resize_with(graph.block_count(), || None);
        for block in core::mem::take(&mut self.progress.unfinished) {
            self.worklist.push(graph.block_address(block), block);
        }
        for (number, _) in (0..).zip(blocks.iter()).filter(|(_, block)| block.is_some()) {
            let next = graph.block_after(number);
            if next.is_some_and(|next| usize::try_from(next).is_ok_and(|next| next >= before)) {
                self.worklist.push(graph.block_address(number), number);
            }
        }
    }

    /// Gives up the assumption that a call returns where the code after it has no other edge in this function, but jumps
    /// in other functions have it as their target. Returns whether there are such calls.
    fn refute_returns(&mut self) -> bool {
        let Analysis { blocks, graph, .. } = &mut *self.analysis;
        let mut has_found = false;
        for (number, block) in (0..).zip(blocks.iter()) {
            let Some(Block { assumption: Assumption::CallReturns(call), .. }) = *block else {
                continue;
            };
            let first = graph.first_step(number).and_then(|step| graph.step(step));
            if first.is_some_and(|step| self.context.is_entered_elsewhere(step.address)) {
                has_found |= graph.mark_no_return(call);
            }
        }
        has_found
    }

    /// Executes a block abstractly, and follows its edges.
    fn execute_block(&mut self, number: u32) {
        let Some(first) = self.analysis.graph.first_step(number) else { return };
        let Some(block) = self.analysis.block(number) else { return };
        let mut state = block.state.clone();
        state.start_block();
        // As long as this is kept, slots with other content are elsewhere in memory.
        let slots = state.stack.clone();
        let mut cursor = Cursor { block: number, at: first, sp: PackedValue::UNKNOWN };
        self.execute_from(&mut cursor, &mut state);
        let in_stack = match state.stack.is_like(&slots) {
            true => RegisterSet::default(),
            false => RegisterSet::FRAME,
        };
        if let Some(block) = self.analysis.block_mut(number) {
            (block.last, block.changes) = (cursor.at, state.written().with(in_stack));
        }
    }

    /// Executes a block from the cursor on, and follows its edges.
    fn execute_from(&mut self, cursor: &mut Cursor, state: &mut AbstractState) {
        let mut assumption = Assumption::Nothing;
        loop {
            let Some(Transferred { last, has_effects }) = self.transfer(cursor, state) else {
                self.progress.has_unusual_entry = true;
                return;
            };
            // Padding after a call is executed only if the call returns.
            if has_effects {
                assumption = Assumption::Nothing;
            }
            assumption = match last.next {
                ControlFlow::SystemCall if state.has_ended => return,
                ControlFlow::Following | ControlFlow::SystemCall => assumption,
                ControlFlow::Call(_) | ControlFlow::IndirectCall | ControlFlow::CallBy(_) => {
                    self.follow_exception(cursor.block, &last, state);
                    if last.never_returns {
                        return;
                    }
                    Assumption::CallReturns(cursor.at)
                }
                ControlFlow::NoReturnCall => {
                    return self.follow_exception(cursor.block, &last, state);
                }
                ControlFlow::Jump(to) => return self.follow_jump(cursor.block, to, state),
                // The default case of a switch, where it is unreachable: GCC gives it a label in a fragment of the function
                // that has no code, so that it is also the start of something else.
                ControlFlow::Branch(to, Condition::Above)
                    if !self.analysis.graph.contains(to)
                        && self.context.is_presumed_fragment(to) =>
                {
                    self.progress.leave_unfinished(cursor.block);
                    if !self.analysis.fall_through(state, Condition::Above) {
                        return;
                    }
                    Assumption::Nothing
                }
                ControlFlow::Branch(to, condition) => {
                    self.follow_branch(cursor.block, (to, condition), state);
                    if !self.analysis.fall_through(state, condition) {
                        return;
                    }
                    Assumption::Nothing
                }
                ControlFlow::Indirect(register) => {
                    let target = state.get(register);
                    return self.follow_indirect_jump(cursor.block, (cursor.at, target), state);
                }
                ControlFlow::Return => return self.analysis.leave(state),
                ControlFlow::Stop => return,
            };
            let Some(next) = self.analysis.graph.step(last.following) else {
                // Control goes on in the next function, unless the last call does not return.
                if assumption == Assumption::Nothing {
                    self.follow_jump(cursor.block, last.end(), state);
                }
                return;
            };
            if next.block != NO_INDEX {
                let is_trap = matches!(assumption, Assumption::CallReturns(_))
                    && next.next == ControlFlow::Stop
                    && !self.context.is_kernel();
                state.doubt = state.doubt.max(is_trap.then_some(Unproven::AfterCall));
                let edge = Edge { to: next.block, assumption };
                match last.next.is_call() {
                    true => self.worklist.defer(next.address, edge, state.clone()),
                    false => self.enter(edge, state),
                }
                return;
            }
            cursor.at = last.following;
        }
    }

    /// Applies the transfer function of the instruction at the cursor and, as long as control goes straight on, those of
    /// the ones after it in the block. The cursor is at the last one then. `None` if the stack shows that the entry is
    /// not the usual one.
    fn transfer(&mut self, cursor: &mut Cursor, state: &mut AbstractState) -> Option<Transferred> {
        let Analysis { graph, tables, .. } = &mut *self.analysis;
        let (mut has_effects, mut is_first) = (false, true);
        let mut steps = graph.steps_from(cursor.at).iter();
        let mut step = steps.next()?;
        loop {
            let is_applied = state.concerns(step.subjects);
            if is_applied {
                state.apply_all(graph.effects(step), tables);
            }
            if is_applied || is_first {
                // SP is rarely changed.
                let is_new = state.sp() != cursor.sp;
                cursor.sp = state.sp();
                if is_new && state.is_above_entry() {
                    return None;
                }
            }
            match step.next {
                ControlFlow::Following => {}
                ControlFlow::Return if !state.can_return() => return None,
                _ => return Some(Transferred { last: *step, has_effects }),
            }
            has_effects |= step.has_effects();
            is_first = false;
            let next = cursor.at.saturating_add(1);
            match steps.next().filter(|it| step.following == next && it.block == NO_INDEX) {
                Some(following) => (step, cursor.at) = (following, next),
                None => return Some(Transferred { last: *step, has_effects }),
            }
        }
    }
}
