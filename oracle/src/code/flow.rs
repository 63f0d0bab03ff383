//! Executes a function abstractly, along every path.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use sframe_validator::Abi;

use super::effect::{Condition, Decoder, Next};
use super::listing::{Listing, NONE, Step};
use super::queue::{Edge, Origin, Queue};
use super::state::State;
use super::surroundings::{Entry, Part, Surroundings};
use super::table::Tables;
use super::value::Value;

/// The maximum number of times that a function is executed. Each time, more is known about where its jumps lead and which
/// calls do not return.
const MOST_ROUNDS: usize = 24;
/// The maximum number of times, on average, that its blocks are executed in a round.
const MOST_VISITS: usize = 64;

/// What leads to a block, and the state at its start.
#[derive(Clone, Debug)]
struct Block {
    origin: Origin,
    state: State,
}

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

/// A function, and the state before each of its instructions.
pub(super) struct Flow<'c> {
    abi: Abi,
    listing: Listing<'c>,
    tables: Tables,
    entries: Vec<Entry>,
    /// The blocks that were reached.
    blocks: Vec<Option<Block>>,
    /// The targets of indirect jumps, by instruction.
    targets: BTreeMap<u32, Vec<u64>>,
    /// Calls that do not return: jumps lead to the instruction after them with another stack.
    final_calls: BTreeSet<u32>,
    /// Presumed entries that are none.
    refuted_entries: BTreeSet<u64>,
    /// Jumps out of the function with the caller's registers and stack.
    tail_calls: BTreeSet<u64>,
    /// It is unknown where a jump leads: code that was not followed may enter any block.
    is_open: bool,
    /// A jump of the last round leads to unknown places.
    has_unknown_jump: bool,
    /// The function returns with another stack than it was entered with, so its entry is not the usual one.
    is_unusual: bool,
    /// The addresses and numbers of the blocks that were reached, ordered; empty if the function was not understood.
    order: Vec<(u64, u32)>,
}

impl<'c> Flow<'c> {
    /// Follows the function in `part` from `entries`.
    pub(super) fn of(
        abi: Abi,
        part: Part<'c>,
        entries: Vec<Entry>,
        decoder: &mut impl Decoder,
        surroundings: &impl Surroundings<'c>,
    ) -> Flow<'c> {
        let mut flow = Flow {
            abi,
            listing: Listing::default(),
            tables: Tables::default(),
            entries,
            blocks: Vec::new(),
            targets: BTreeMap::new(),
            final_calls: BTreeSet::new(),
            refuted_entries: BTreeSet::new(),
            tail_calls: BTreeSet::new(),
            is_open: false,
            has_unknown_jump: false,
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
                if flow.has_unknown_jump && !flow.is_open {
                    flow.is_open = true;
                    continue;
                }
                flow.order = flow.reached();
                break;
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

    /// Executes all blocks until nothing changes. `None` if that takes too long.
    fn execute(&mut self, surroundings: &impl Surroundings<'c>) -> Option<News> {
        if self.listing.is_too_large() {
            return None;
        }
        let entry = State::entry(self.abi);
        self.blocks.clear();
        self.blocks.resize_with(self.listing.block_count(), || None);
        self.tables.clear();
        self.is_unusual = false;
        self.has_unknown_jump = false;
        let mut news = News::default();
        let mut queue = Queue::new(self.blocks.len());
        for Entry { address, is_called } in self.entries.clone() {
            let step = self.listing.step_at(address).and_then(|step| self.listing.step(step));
            let Some(to) = step.map(|step| step.block) else { continue };
            if is_called {
                let edge = Edge { to, origin: Origin::Jump };
                self.join(edge, &entry, &mut queue, &mut news);
            } else if !self.refuted_entries.contains(&address) {
                let edge = Edge { to, origin: Origin::Presumed(address) };
                queue.defer(address, edge, entry.clone());
            }
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
        news.places.sort_unstable();
        news.places.dedup();
        news.is_refuted |= self.doubt_calls(surroundings);
        Some(news)
    }

    /// Finds calls that may not return: the code after them is entered only in this way as far as is known, but other
    /// functions contain jumps there. Returns whether there are any.
    fn doubt_calls(&mut self, surroundings: &impl Surroundings<'c>) -> bool {
        let before = self.final_calls.len();
        for (number, block) in (0..).zip(&self.blocks) {
            let Some(Block { origin: Origin::Call(call), .. }) = *block else { continue };
            let first = self.listing.first_step(number).and_then(|step| self.listing.step(step));
            if first.is_some_and(|step| surroundings.is_entered_elsewhere(step.address)) {
                self.final_calls.insert(call);
            }
        }
        self.final_calls.len() > before
    }

    /// Executes a block, and enters those that follow.
    fn run(
        &mut self,
        block: u32,
        queue: &mut Queue,
        news: &mut News,
        surroundings: &impl Surroundings<'c>,
    ) {
        let Some(mut at) = self.listing.first_step(block) else { return };
        let Some(mut state) = self.block(block).map(|block| block.state.clone()) else { return };
        loop {
            let Some(step) = self.listing.step(at).copied() else { return };
            self.apply(&step, &mut state);
            if state.is_above_entry() || step.next == Next::Return && !state.can_return() {
                self.is_unusual = true;
                return;
            }
            let origin = match step.next {
                Next::Following => Origin::Jump,
                Next::Call(_) => {
                    self.catch(&step, &state, queue, news);
                    if self.is_final(at) {
                        return;
                    }
                    Origin::Call(at)
                }
                Next::Jump(to) => return self.go(to, &state, queue, news),
                // The default case of a switch, where it is unreachable: GCC gives it a label in a part of the function
                // that has no code, so that it is also the start of something else.
                Next::Branch(to, Condition::Above) if !self.listing.contains(to) => {
                    refine(&mut state, Condition::Above, false);
                    return self.go(step.end(), &state, queue, news);
                }
                Next::Branch(to, condition) => {
                    if state.has_compared() {
                        let mut taken = state.clone();
                        if refine(&mut taken, condition, true) {
                            self.go(to, &taken, queue, news);
                        }
                        if refine(&mut state, condition, false) {
                            self.go(step.end(), &state, queue, news);
                        }
                    } else {
                        self.go(to, &state, queue, news);
                        self.go(step.end(), &state, queue, news);
                    }
                    return;
                }
                Next::Indirect(register) => {
                    let target = state.get(register);
                    self.resolve(at, target, surroundings);
                    let targets = self.targets.get(&at).cloned().unwrap_or_default();
                    self.has_unknown_jump |= targets.is_empty() && !self.leaves_by(target, &state);
                    for to in targets {
                        self.go(to, &state, queue, news);
                    }
                    return;
                }
                Next::Return | Next::Stop => return,
            };
            at = step.following;
            let Some(next) = self.listing.step(at) else {
                // The function continues in another one, unless its last call does not return.
                if origin == Origin::Jump {
                    self.go(step.end(), &state, queue, news);
                }
                return;
            };
            if next.block != NONE {
                let edge = Edge { to: next.block, origin };
                match origin {
                    Origin::Jump => self.enter(edge, &state, queue, news),
                    _ => queue.defer(next.address, edge, state),
                }
                return;
            }
        }
    }

    fn block(&self, number: u32) -> Option<&Block> {
        self.blocks.get(usize::try_from(number).ok()?)?.as_ref()
    }

    fn apply(&mut self, step: &Step, state: &mut State) {
        for effect in self.listing.effects(step) {
            state.apply(*effect, &mut self.tables);
        }
    }

    /// Whether an instruction is a call that does not return.
    fn is_final(&self, call: u32) -> bool {
        self.final_calls.contains(&call) || self.listing.endless_calls.contains(&call)
    }

    /// Follows an exception that passes a call.
    fn catch(&mut self, call: &Step, state: &State, queue: &mut Queue, news: &mut News) {
        if let Some(pad) = self.listing.exceptions.pad_of(call.address) {
            let mut caught = state.clone();
            caught.remove(self.listing.exceptions.arguments_of(call.address));
            self.go(pad, &caught, queue, news);
        }
    }

    /// Follows a jump to an address.
    fn go(&mut self, to: u64, state: &State, queue: &mut Queue, news: &mut News) {
        let step = self.listing.step_at(to).and_then(|step| self.listing.step(step));
        match step.map(|step| step.block) {
            Some(NONE) => news.places.push(to),
            Some(block) => {
                self.enter(Edge { to: block, origin: Origin::Jump }, state, queue, news);
            }
            None if self.listing.is_not_code(to) => {}
            None if self.listing.contains(to) => news.places.push(to),
            None if self.leaves(state) => {
                self.tail_calls.insert(to);
            }
            None if state.has_frame(self.abi) => news.parts.push(to),
            None => {}
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

    /// Finds the targets of an indirect jump.
    fn resolve(&mut self, jump: u32, target: Value, surroundings: &impl Surroundings<'c>) {
        let Value::Target(table) = target else { return };
        let is_code = |address: u64| self.listing.contains(address);
        let Some(found) = self.tables.targets(table, surroundings, is_code) else { return };
        let known = self.targets.entry(jump).or_default();
        known.extend(found);
        known.sort_unstable();
        known.dedup();
    }

    /// Enters a block in a state.
    fn enter(&mut self, edge: Edge, state: &State, queue: &mut Queue, news: &mut News) {
        if self.is_open && !matches!(edge.origin, Origin::Presumed(_)) {
            let mut state = state.clone();
            state.forget_callers();
            return self.join(edge, &state, queue, news);
        }
        self.join(edge, state, queue, news);
    }

    /// Enters a block in exactly this state.
    fn join(&mut self, edge: Edge, state: &State, queue: &mut Queue, news: &mut News) {
        let address = self.listing.first_step(edge.to).and_then(|step| self.listing.step(step));
        let address = address.map_or(0, |step| step.address);
        let block = usize::try_from(edge.to).ok().and_then(|to| self.blocks.get_mut(to));
        let Some(place) = block else { return };
        let Some(block) = place else {
            *place = Some(Block { origin: edge.origin, state: state.clone() });
            return queue.push(address, edge.to);
        };
        let origin = block.origin;
        if block.state.contradicts(state) {
            // One of both ways is wrong: a call does not return, or an entry is none.
            match origin.max(edge.origin) {
                Origin::Jump => {}
                Origin::Call(call) => {
                    news.is_refuted |= self.final_calls.insert(call);
                    return;
                }
                Origin::Presumed(entry) => {
                    news.is_refuted |= self.refuted_entries.insert(entry);
                    return;
                }
            }
        }
        block.origin = origin.min(edge.origin);
        if block.state.join(state) {
            queue.push(address, edge.to);
        }
    }

    /// The reached blocks by address, or nothing if the function was not understood.
    fn reached(&self) -> Vec<(u64, u32)> {
        if self.is_unusual {
            return Vec::new();
        }
        let reached = (0..).zip(&self.blocks).filter(|(_, block)| block.is_some());
        let mut reached: Vec<(u64, u32)> = reached
            .filter_map(|(number, _)| {
                let first = self.listing.first_step(number)?;
                Some((self.listing.step(first)?.address, number))
            })
            .collect();
        reached.sort_unstable();
        if self.overlap(&reached) { Vec::new() } else { reached }
    }

    /// Whether an instruction in one of these blocks starts in the middle of another: then some jump leads to a wrong
    /// place.
    fn overlap(&self, blocks: &[(u64, u32)]) -> bool {
        let mut end = 0;
        for (_, block) in blocks {
            let mut at = self.listing.first_step(*block).unwrap_or(NONE);
            while let Some(step) = self.listing.step(at) {
                // A jump may skip the prefix of an instruction (glibc: `lock`), which ends at the same place.
                if step.address < end && step.end() != end {
                    return true;
                }
                end = step.end();
                let next = self.listing.step(step.following);
                if !matches!(step.next, Next::Following | Next::Call(_))
                    || self.is_final(at)
                    || next.is_none_or(|next| next.block != NONE)
                {
                    break;
                }
                at = step.following;
            }
        }
        false
    }

    /// Passes each instruction in `range` that was reached to `visit`, in the order of addresses: its address, its end,
    /// and the state before it.
    pub(super) fn visit(&mut self, range: Range<u64>, visit: &mut dyn FnMut(u64, u64, &State)) {
        let after = self.order.partition_point(|(address, _)| *address <= range.start);
        let mut done = range.start;
        for index in after.saturating_sub(1)..self.order.len() {
            let Some((address, block)) = self.order.get(index).copied() else { return };
            if address >= range.end {
                return;
            }
            self.visit_block(block, &mut |from, to, state| {
                if from >= done && from < range.end {
                    done = to;
                    visit(from, to, state);
                }
            });
        }
    }

    fn visit_block(&mut self, block: u32, visit: &mut dyn FnMut(u64, u64, &State)) {
        let Some(first) = self.listing.first_step(block) else { return };
        let Some(mut state) = self.block(block).map(|block| block.state.clone()) else { return };
        let mut at = first;
        while let Some(step) = self.listing.step(at).copied() {
            if at != first && step.block != NONE {
                return;
            }
            visit(step.address, step.end(), &state);
            let goes_on = match step.next {
                Next::Following => true,
                Next::Call(_) => !self.is_final(at),
                _ => false,
            };
            if !goes_on {
                return;
            }
            self.apply(&step, &mut state);
            at = step.following;
        }
    }
}

/// Adds what a conditional branch says about the numbers compared. Returns whether it can go this way.
fn refine(state: &mut State, condition: Condition, taken: bool) -> bool {
    match (condition, taken) {
        (Condition::Equal, true) | (Condition::NotEqual, false) => return state.equal(),
        (Condition::Above, false) | (Condition::BelowOrEqual, true) => state.at_most(false),
        (Condition::AboveOrEqual, false) | (Condition::Below, true) => state.at_most(true),
        _ => {}
    }
    true
}
