//! Executes a function abstractly, along every path.

mod change;
mod enter;
mod visit;

use std::collections::{BTreeMap, BTreeSet};

use sframe_validator::Abi;

use super::block::Block;
use super::effect::{Condition, Decoder, Next};
use super::leads::Leads;
use super::listing::Listing;
use super::memory::Memory;
use super::queue::{Edge, Origin, Queue};
use super::state::State;
use super::step::{NONE, Step};
use super::surroundings::{By, Entry, Part, Surroundings};
use super::table::Tables;
use super::value::{Packed, Value};

/// The maximum number of times that a function is executed. Each time, more is known about where its jumps lead and which
/// calls do not return.
const MOST_ROUNDS: usize = 24;
/// The maximum number of times, on average, that its blocks are executed in a round.
const MOST_VISITS: usize = 64;

/// What a round found out for the next.
#[derive(Default)]
struct News {
    /// Places in the function that were not decoded.
    places: Vec<u64>,
    /// Targets of jumps out of the function with the caller's registers or stack changed: they belong to it.
    parts: Vec<u64>,
    /// Some assumption was wrong.
    is_refuted: bool,
}

/// Instructions that were applied one after the other.
struct Passed {
    last: Step,
    /// Whether one of them that does nothing else has effects.
    has_effects: bool,
}

/// How far a block was executed.
struct Course {
    /// The instruction.
    at: u32,
    /// What SP held when it was looked at last.
    sp: Packed,
}

/// A function, and the state before each of its instructions.
pub(super) struct Flow<'c> {
    abi: Abi,
    listing: Listing<'c>,
    tables: Tables,
    entries: Vec<Entry>,
    /// The blocks that were reached. Empty before the first round, and before one that starts anew.
    blocks: Vec<Option<Block>>,
    /// The blocks to be executed. Empty between rounds.
    queue: Queue,
    /// The blocks whose jumps may lead elsewhere once more of the function is known.
    unfinished: Vec<u32>,
    /// The targets of indirect jumps, by instruction.
    targets: BTreeMap<u32, Vec<u64>>,
    /// The indirect jumps whose targets were looked up in this round, and the tables.
    resolved: BTreeSet<(u32, u32)>,
    /// Presumed entries that are none.
    refuted_entries: BTreeSet<u64>,
    /// Jumps out of the function with the caller's registers and stack.
    tail_calls: BTreeSet<u64>,
    /// It is unknown where a jump leads: code that was not followed may enter any block.
    is_open: bool,
    /// Jumps that lead to unknown places.
    unknown_jumps: BTreeSet<u32>,
    /// The function returns with another stack than it was entered with, so its entry is not the usual one.
    is_unusual: bool,
    /// The addresses and numbers of the blocks that were reached, ordered; empty if the function was not understood.
    order: Vec<(u64, u32)>,
}

impl Drop for Flow<'_> {
    fn drop(&mut self) {
        let lists = self.listing.take_lists();
        let (blocks, queue) = (core::mem::take(&mut self.blocks), core::mem::take(&mut self.queue));
        Memory { lists, blocks, queue }.keep();
    }
}

impl<'c> Flow<'c> {
    /// Follows the function in `part` from `entries`.
    pub(super) fn of(
        abi: Abi,
        part: Part<'c>,
        entries: Vec<Entry>,
        decoder: &mut impl Decoder<'c>,
        surroundings: &impl Surroundings<'c>,
    ) -> Flow<'c> {
        let Memory { lists, blocks, queue } = Memory::reused();
        let mut flow = Flow {
            abi,
            listing: Listing::within(lists),
            tables: Tables::default(),
            entries,
            blocks,
            queue,
            unfinished: Vec::new(),
            targets: BTreeMap::new(),
            resolved: BTreeSet::new(),
            refuted_entries: BTreeSet::new(),
            tail_calls: BTreeSet::new(),
            is_open: false,
            unknown_jumps: BTreeSet::new(),
            is_unusual: false,
            order: Vec::new(),
        };
        flow.listing.add_part(part, surroundings);
        let mut places: Vec<u64> = flow.entries.iter().map(|entry| entry.address).collect();
        for _ in 0..MOST_ROUNDS {
            for place in places.drain(..) {
                flow.listing.discover(place, decoder, surroundings);
            }
            let Some(news) = flow.execute(surroundings) else { break };
            if news.places.is_empty() && news.parts.is_empty() && !news.is_refuted {
                if flow.unknown_jumps.is_empty() || flow.is_open {
                    flow.order = flow.reached();
                    break;
                }
                flow.is_open = true;
                flow.blocks.clear();
            }
            // What was not understood may be, now that more of the function is known, and best on the first path to it.
            if news.is_refuted || flow.is_unusual || !flow.unknown_jumps.is_empty() {
                flow.blocks.clear();
            }
            for place in &news.parts {
                flow.listing.absorb(*place, surroundings);
            }
            places = [news.parts, news.places].concat();
        }
        flow
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

    /// Executes blocks until nothing changes. `None` if that takes too long.
    fn execute(&mut self, surroundings: &impl Surroundings<'c>) -> Option<News> {
        if self.listing.is_too_large() {
            return None;
        }
        self.resolved.clear();
        let mut news = News::default();
        let mut queue = core::mem::take(&mut self.queue);
        queue.make_room(self.listing.block_count());
        if self.blocks.is_empty() {
            let mut entry = State::entry(self.abi);
            if surroundings.is_kernel() {
                entry.red_zone = 0;
            }
            self.start(entry, &mut queue, &mut news);
        } else {
            self.resume(&mut queue);
        }
        let mut visits = (self.blocks.len() + 1).saturating_mul(MOST_VISITS);
        loop {
            while let Some(block) = queue.pop() {
                visits = visits.checked_sub(1).filter(|_| surroundings.spend())?;
                self.run(block, &mut queue, &mut news, surroundings);
            }
            let Some((edge, state)) = queue.pop_deferred() else { break };
            self.enter(edge, &state, &mut queue, &mut news);
        }
        self.queue = queue;
        news.places.sort_unstable();
        news.places.dedup();
        news.is_refuted |= self.doubt_calls(surroundings);
        Some(news)
    }

    /// Enters the function with a state.
    fn start(&mut self, mut entry: State, queue: &mut Queue, news: &mut News) {
        self.blocks.resize_with(self.listing.block_count(), || None);
        self.unfinished.clear();
        self.unknown_jumps.clear();
        self.tables.clear();
        self.is_unusual = false;
        for Entry { address, by } in self.entries.clone() {
            let step = self.listing.step_at(address).and_then(|step| self.listing.step(step));
            let Some(to) = step.map(|step| step.block) else { continue };
            entry.is_local = by == By::LocalCall;
            if by != By::Presumption {
                let edge = Edge { to, origin: Origin::Jump };
                self.join(edge, &entry, queue, news);
            } else if !self.refuted_entries.contains(&address) {
                let edge = Edge { to, origin: Origin::Presumed(address) };
                queue.defer(address, edge, entry.clone());
            }
        }
    }

    /// Continues after more of the function was decoded: executes the blocks again that lead to other places now, or that
    /// have become shorter.
    fn resume(&mut self, queue: &mut Queue) {
        let before = self.blocks.len();
        self.blocks.resize_with(self.listing.block_count(), || None);
        let unfinished = core::mem::take(&mut self.unfinished);
        for block in unfinished {
            queue.push(self.listing.block_address(block), block);
        }
        for (number, _) in (0..).zip(&self.blocks).filter(|(_, block)| block.is_some()) {
            let next = self.listing.block_after(number);
            if next.is_some_and(|next| usize::try_from(next).is_ok_and(|next| next >= before)) {
                queue.push(self.listing.block_address(number), number);
            }
        }
    }

    /// Finds calls that may not return: the code after them is entered only in this way as far as is known, but other
    /// functions contain jumps there. Returns whether there are any.
    fn doubt_calls(&mut self, surroundings: &impl Surroundings<'c>) -> bool {
        let mut has_found = false;
        for (number, block) in (0..).zip(&self.blocks) {
            let Some(Block { origin: Origin::Call(call), .. }) = *block else { continue };
            let first = self.listing.first_step(number).and_then(|step| self.listing.step(step));
            if first.is_some_and(|step| surroundings.is_entered_elsewhere(step.address)) {
                has_found |= self.listing.end_at(call);
            }
        }
        has_found
    }

    /// Executes a block, and enters those that follow.
    fn run(
        &mut self,
        number: u32,
        queue: &mut Queue,
        news: &mut News,
        surroundings: &impl Surroundings<'c>,
    ) {
        let Some(first) = self.listing.first_step(number) else { return };
        let Some(block) = self.block(number) else { return };
        let mut state = block.state.clone();
        state.start_block();
        // As long as this is kept, slots with other content have another place in memory.
        let slots = state.slots.clone();
        let mut course = Course { at: first, sp: Packed::UNKNOWN };
        self.follow(number, &mut course, &mut state, queue, news, surroundings);
        let is_steady = !state.has_written_frame() && state.slots.is_like(&slots);
        if let Some(block) = self.block_mut(number) {
            (block.last, block.is_steady) = (course.at, is_steady);
        }
    }

    /// Executes a block from its start, and enters those that follow.
    fn follow(
        &mut self,
        block: u32,
        course: &mut Course,
        state: &mut State,
        queue: &mut Queue,
        news: &mut News,
        surroundings: &impl Surroundings<'c>,
    ) {
        let mut origin = Origin::Jump;
        loop {
            let Some(Passed { last, has_effects }) = self.pass(course, state) else {
                self.is_unusual = true;
                return;
            };
            // Padding after a call is executed only if the call returns.
            if has_effects {
                origin = Origin::Jump;
            }
            origin = match last.next {
                Next::Following => origin,
                Next::Call(_) | Next::IndirectCall => {
                    self.catch(block, &last, state, queue, news);
                    if last.is_final {
                        return;
                    }
                    Origin::Call(course.at)
                }
                Next::Jump(to) => return self.go(block, to, state, queue, news),
                // The default case of a switch, where it is unreachable: GCC gives it a label in a part of the function
                // that has no code, so that it is also the start of something else.
                Next::Branch(to, Condition::Above) if !self.listing.contains(to) => {
                    self.leave_unfinished(block);
                    if !stay(self.is_open, state, Condition::Above) {
                        return;
                    }
                    Origin::Jump
                }
                Next::Branch(to, condition) => {
                    self.branch(block, to, condition, state, queue, news);
                    if !stay(self.is_open, state, condition) {
                        return;
                    }
                    Origin::Jump
                }
                Next::Indirect(register) => {
                    let (jump, target) = (course.at, state.get(register));
                    self.resolve(jump, target, surroundings);
                    let targets = self.targets.get(&jump).cloned().unwrap_or_default();
                    self.leave_unfinished(block);
                    if !targets.is_empty() {
                        self.unknown_jumps.remove(&jump);
                    } else if !self.leaves_by(target, state) {
                        self.unknown_jumps.insert(jump);
                    }
                    for to in targets {
                        self.go(block, to, state, queue, news);
                    }
                    return;
                }
                Next::Return | Next::Stop => return,
            };
            let Some(next) = self.listing.step(last.following) else {
                // The function continues in another one, unless its last call does not return.
                if origin == Origin::Jump {
                    self.go(block, last.end(), state, queue, news);
                }
                return;
            };
            if next.block != NONE {
                let edge = Edge { to: next.block, origin };
                match last.next.is_call() {
                    true => queue.defer(next.address, edge, state.clone()),
                    false => self.enter(edge, state, queue, news),
                }
                return;
            }
            course.at = last.following;
        }
    }

    /// Applies the instruction that a course is at and, while they do nothing but have effects, those after it in the block. The
    /// course is at the last one then. `None` if the stack shows that the function is unusual.
    fn pass(&mut self, course: &mut Course, state: &mut State) -> Option<Passed> {
        let (mut has_effects, mut is_first) = (false, true);
        let mut steps = self.listing.steps_from(course.at).iter();
        let mut step = steps.next()?;
        loop {
            let is_applied = state.concerns(step.subjects);
            if is_applied {
                state.apply_all(self.listing.effects(step), &mut self.tables);
            }
            if is_applied || is_first {
                // SP is rarely changed.
                let is_new = state.sp() != course.sp;
                course.sp = state.sp();
                if is_new && state.is_above_entry() {
                    return None;
                }
            }
            match step.next {
                Next::Following => {}
                Next::Return if !state.can_return() => return None,
                _ => return Some(Passed { last: *step, has_effects }),
            }
            has_effects |= step.has_effects();
            is_first = false;
            let next = course.at.saturating_add(1);
            match steps.next().filter(|it| step.following == next && it.block == NONE) {
                Some(following) => (step, course.at) = (following, next),
                None => return Some(Passed { last: *step, has_effects }),
            }
        }
    }

    /// Follows a conditional branch that is taken.
    fn branch(
        &mut self,
        block: u32,
        to: u64,
        condition: Condition,
        state: &State,
        queue: &mut Queue,
        news: &mut News,
    ) {
        if !state.learns_from(condition) {
            return self.go(block, to, state, queue, news);
        }
        let mut taken = state.clone();
        if taken.refine(condition, true) {
            self.go(block, to, &taken, queue, news);
        }
    }

    /// Notes that a jump of a block may lead elsewhere once more of the function is known.
    fn leave_unfinished(&mut self, block: u32) {
        if self.unfinished.last() != Some(&block) {
            self.unfinished.push(block);
        }
    }

    fn block(&self, number: u32) -> Option<&Block> {
        self.blocks.get(usize::try_from(number).ok()?)?.as_ref()
    }

    fn block_mut(&mut self, number: u32) -> Option<&mut Block> {
        self.blocks.get_mut(usize::try_from(number).ok()?)?.as_mut()
    }

    /// Follows an exception that passes a call.
    fn catch(
        &mut self,
        block: u32,
        call: &Step,
        state: &State,
        queue: &mut Queue,
        news: &mut News,
    ) {
        if let Some(pad) = self.listing.exceptions.pad_of(call.address) {
            let mut caught = state.clone();
            caught.remove(self.listing.exceptions.arguments_of(call.address));
            self.go(block, pad, &caught, queue, news);
        }
    }

    /// Follows a jump of a block to an address.
    fn go(&mut self, from: u32, to: u64, state: &State, queue: &mut Queue, news: &mut News) {
        let step = self.listing.step_at(to).and_then(|step| self.listing.step(step));
        if let Some(&Step { block, .. }) = step.filter(|step| step.block != NONE) {
            return self.enter(Edge { to: block, origin: Origin::Jump }, state, queue, news);
        }
        self.leave_unfinished(from);
        if self.listing.is_not_code(to) {
            return;
        }
        if self.listing.contains(to) {
            news.places.push(to);
        } else if self.leaves(state) {
            self.tail_calls.insert(to);
        } else if state.has_frame(self.abi) {
            news.parts.push(to);
        }
    }

    /// Whether a jump to another function is a tail call in a state.
    fn leaves(&self, state: &State) -> bool {
        match self.is_open {
            true => state.may_be_at_entry(self.abi),
            false => state.is_at_entry(self.abi),
        }
    }

    /// Whether an indirect jump, whose targets in the function are not known, leads to another function.
    fn leaves_by(&self, target: Value, state: &State) -> bool {
        match target {
            Value::Target(table) if self.tables.is_pointer(table) => true,
            Value::Target(_) | Value::Element(_) => false,
            _ => self.leaves(state),
        }
    }

    /// Finds the targets of an indirect jump. In a round, a table has the same targets each time.
    fn resolve(&mut self, jump: u32, target: Value, surroundings: &impl Surroundings<'c>) {
        let Value::Target(table) = target else { return };
        if !self.resolved.insert((jump, table)) {
            return;
        }
        let is_inside = |address: u64| self.listing.contains(address);
        let Some(found) = self.tables.targets(table, surroundings, is_inside) else { return };
        let known = self.targets.entry(jump).or_default();
        if !found.iter().all(|target| known.binary_search(target).is_ok()) {
            known.extend(found);
            known.sort_unstable();
            known.dedup();
        }
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
