//! A round of the fixpoint computation: basic blocks are executed until no state changes.

use std::collections::BTreeSet;

use super::{Analysis, Progress, stay};
use crate::code::block::Block;
use crate::code::effect::{Condition, Next};
use crate::code::queue::{Edge, Origin, Queue};
use crate::code::state::State;
use crate::code::step::{NONE, Step};
use crate::code::surroundings::{By, Entry, Surroundings};
use crate::code::value::Packed;

/// The maximum number of times, on average, that blocks are executed in a round.
const MAX_VISITS_PER_BLOCK: usize = 64;

/// What a round found by which the graph has to grow, or which assumption fell.
#[derive(Default)]
pub(super) struct Discovery {
    /// Places in the function that were not decoded.
    pub(super) places: Vec<u64>,
    /// Targets of jumps out of the function with the caller's registers or stack changed: they belong to it.
    pub(super) parts: Vec<u64>,
    /// Some assumption was wrong.
    pub(super) is_refuted: bool,
}

/// What one round needs.
pub(super) struct Round<'r, 'c, S> {
    pub(super) analysis: &'r mut Analysis<'c>,
    pub(super) progress: &'r mut Progress,
    pub(super) queue: &'r mut Queue,
    pub(super) surroundings: &'r S,
    pub(super) discovery: Discovery,
    /// The indirect jumps whose targets were looked up, and the tables.
    pub(super) resolved: BTreeSet<(u32, u32)>,
}

/// A position in a block.
struct Cursor {
    block: u32,
    /// The instruction.
    at: u32,
    /// What SP held when it was looked at last.
    sp: Packed,
}

/// The result of a straight run of transfer functions.
struct Transferred {
    /// The last instruction.
    last: Step,
    /// Whether one of those that do nothing else has effects.
    has_effects: bool,
}

impl<'r, 'c, S: Surroundings<'c>> Round<'r, 'c, S> {
    pub(super) fn new(
        analysis: &'r mut Analysis<'c>,
        progress: &'r mut Progress,
        queue: &'r mut Queue,
        surroundings: &'r S,
    ) -> Round<'r, 'c, S> {
        let (discovery, resolved) = Default::default();
        Round { analysis, progress, queue, surroundings, discovery, resolved }
    }

    /// Executes blocks until nothing changes. `None` if that takes too long.
    pub(super) fn execute(mut self) -> Option<Discovery> {
        if self.analysis.listing.is_too_large() {
            return None;
        }
        self.queue.make_room(self.analysis.listing.block_count());
        if self.analysis.blocks.is_empty() {
            self.start();
        } else {
            self.resume();
        }
        let blocks = self.analysis.blocks.len().saturating_add(1);
        let mut visits = blocks.saturating_mul(MAX_VISITS_PER_BLOCK);
        loop {
            while let Some(block) = self.queue.pop() {
                visits = visits.checked_sub(1).filter(|_| self.surroundings.spend())?;
                self.run(block);
            }
            let Some((edge, state)) = self.queue.pop_deferred() else { break };
            self.enter(edge, &state);
        }
        self.discovery.places.sort_unstable();
        self.discovery.places.dedup();
        self.discovery.is_refuted |= self.doubt_calls();
        Some(self.discovery)
    }

    /// Enters the function.
    fn start(&mut self) {
        let Analysis { blocks, listing, tables, abi, .. } = &mut *self.analysis;
        blocks.resize_with(listing.block_count(), || None);
        tables.clear();
        let mut entry = State::entry(*abi);
        if self.surroundings.is_kernel() {
            entry.red_zone = 0;
        }
        self.progress.unfinished.clear();
        self.progress.unknown_jumps.clear();
        self.progress.is_unusual = false;
        for Entry { address, by } in self.progress.entries.clone() {
            let listing = &self.analysis.listing;
            let step = listing.step_at(address).and_then(|step| listing.step(step));
            let Some(to) = step.map(|step| step.block) else { continue };
            entry.is_local = by == By::LocalCall;
            if by != By::Presumption {
                self.join(Edge { to, origin: Origin::Jump }, &entry);
            } else if !self.progress.refuted_entries.contains(&address) {
                let edge = Edge { to, origin: Origin::Presumed(address) };
                self.queue.defer(address, edge, entry.clone());
            }
        }
    }

    /// Continues after more of the function was decoded: executes the blocks again that lead to other places now, or that
    /// have become shorter.
    fn resume(&mut self) {
        let Analysis { blocks, listing, .. } = &mut *self.analysis;
        let before = blocks.len();
        blocks.resize_with(listing.block_count(), || None);
        for block in core::mem::take(&mut self.progress.unfinished) {
            self.queue.push(listing.block_address(block), block);
        }
        for (number, _) in (0..).zip(blocks.iter()).filter(|(_, block)| block.is_some()) {
            let next = listing.block_after(number);
            if next.is_some_and(|next| usize::try_from(next).is_ok_and(|next| next >= before)) {
                self.queue.push(listing.block_address(number), number);
            }
        }
    }

    /// Finds calls that may not return: the code after them is entered only in this way as far as is known, but other
    /// functions contain jumps there. Returns whether there are any.
    fn doubt_calls(&mut self) -> bool {
        let Analysis { blocks, listing, .. } = &mut *self.analysis;
        let mut has_found = false;
        for (number, block) in (0..).zip(blocks.iter()) {
            let Some(Block { origin: Origin::Call(call), .. }) = *block else { continue };
            let first = listing.first_step(number).and_then(|step| listing.step(step));
            if first.is_some_and(|step| self.surroundings.is_entered_elsewhere(step.address)) {
                has_found |= listing.end_at(call);
            }
        }
        has_found
    }

    /// Executes a block, and enters those that follow.
    fn run(&mut self, number: u32) {
        let Some(first) = self.analysis.listing.first_step(number) else { return };
        let Some(block) = self.analysis.block(number) else { return };
        let mut state = block.state.clone();
        state.start_block();
        // As long as this is kept, slots with other content have another place in memory.
        let slots = state.slots.clone();
        let mut cursor = Cursor { block: number, at: first, sp: Packed::UNKNOWN };
        self.follow(&mut cursor, &mut state);
        let is_steady = !state.has_written_frame() && state.slots.is_like(&slots);
        if let Some(block) = self.analysis.block_mut(number) {
            (block.last, block.is_steady) = (cursor.at, is_steady);
        }
    }

    /// Executes a block from the cursor on, and enters those that follow.
    fn follow(&mut self, cursor: &mut Cursor, state: &mut State) {
        let mut origin = Origin::Jump;
        loop {
            let Some(Transferred { last, has_effects }) = self.transfer(cursor, state) else {
                self.progress.is_unusual = true;
                return;
            };
            // Padding after a call is executed only if the call returns.
            if has_effects {
                origin = Origin::Jump;
            }
            origin = match last.next {
                Next::Following => origin,
                Next::Call(_) | Next::IndirectCall => {
                    self.catch(cursor.block, &last, state);
                    if last.is_final {
                        return;
                    }
                    Origin::Call(cursor.at)
                }
                Next::Jump(to) => return self.go(cursor.block, to, state),
                // The default case of a switch, where it is unreachable: GCC gives it a label in a part of the function
                // that has no code, so that it is also the start of something else.
                Next::Branch(to, Condition::Above) if !self.analysis.listing.contains(to) => {
                    self.progress.leave_unfinished(cursor.block);
                    if !stay(self.analysis.is_open, state, Condition::Above) {
                        return;
                    }
                    Origin::Jump
                }
                Next::Branch(to, condition) => {
                    self.branch(cursor.block, (to, condition), state);
                    if !stay(self.analysis.is_open, state, condition) {
                        return;
                    }
                    Origin::Jump
                }
                Next::Indirect(register) => {
                    let target = state.get(register);
                    return self.go_indirectly(cursor.block, (cursor.at, target), state);
                }
                Next::Return | Next::Stop => return,
            };
            let Some(next) = self.analysis.listing.step(last.following) else {
                // The function continues in another one, unless its last call does not return.
                if origin == Origin::Jump {
                    self.go(cursor.block, last.end(), state);
                }
                return;
            };
            if next.block != NONE {
                let edge = Edge { to: next.block, origin };
                match last.next.is_call() {
                    true => self.queue.defer(next.address, edge, state.clone()),
                    false => self.enter(edge, state),
                }
                return;
            }
            cursor.at = last.following;
        }
    }

    /// Applies the instruction at the cursor and, while they do nothing but have effects, those after it in the block. The
    /// cursor is at the last one then. `None` if the stack shows that the function is unusual.
    fn transfer(&mut self, cursor: &mut Cursor, state: &mut State) -> Option<Transferred> {
        let Analysis { listing, tables, .. } = &mut *self.analysis;
        let (mut has_effects, mut is_first) = (false, true);
        let mut steps = listing.steps_from(cursor.at).iter();
        let mut step = steps.next()?;
        loop {
            let is_applied = state.concerns(step.subjects);
            if is_applied {
                state.apply_all(listing.effects(step), tables);
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
                Next::Following => {}
                Next::Return if !state.can_return() => return None,
                _ => return Some(Transferred { last: *step, has_effects }),
            }
            has_effects |= step.has_effects();
            is_first = false;
            let next = cursor.at.saturating_add(1);
            match steps.next().filter(|it| step.following == next && it.block == NONE) {
                Some(following) => (step, cursor.at) = (following, next),
                None => return Some(Transferred { last: *step, has_effects }),
            }
        }
    }
}
