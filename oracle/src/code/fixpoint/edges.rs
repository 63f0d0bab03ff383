//! The edges that leave a basic block: where its jumps, branches and exceptions lead, and with which state.

use super::round::Round;
use crate::code::effect::Condition;
use crate::code::queue::{Edge, Origin};
use crate::code::state::State;
use crate::code::step::{NONE, Step};
use crate::code::surroundings::Surroundings;
use crate::code::value::Value;

impl<'c, S: Surroundings<'c>> Round<'_, 'c, S> {
    /// Follows a conditional branch of a block to an address, if it can be taken.
    pub(super) fn branch(&mut self, from: u32, (to, condition): (u64, Condition), state: &State) {
        if !state.learns_from(condition) {
            return self.go(from, to, state);
        }
        let mut taken = state.clone();
        if taken.refine(condition, true) {
            self.go(from, to, &taken);
        }
    }

    /// Follows an exception that passes a call of a block.
    pub(super) fn catch(&mut self, from: u32, call: &Step, state: &State) {
        let exceptions = &self.analysis.listing.exceptions;
        if let Some(pad) = exceptions.pad_of(call.address) {
            let mut caught = state.clone();
            caught.remove(exceptions.arguments_of(call.address));
            self.go(from, pad, &caught);
        }
    }

    /// Follows a jump of a block to an address.
    pub(super) fn go(&mut self, from: u32, to: u64, state: &State) {
        let listing = &self.analysis.listing;
        let step = listing.step_at(to).and_then(|step| listing.step(step));
        if let Some(&Step { block, .. }) = step.filter(|step| step.block != NONE) {
            return self.enter(Edge { to: block, origin: Origin::Jump }, state);
        }
        self.progress.leave_unfinished(from);
        if listing.is_not_code(to) {
            return;
        }
        if listing.contains(to) {
            self.discovery.places.push(to);
        } else if self.leaves(state) {
            self.analysis.tail_calls.insert(to);
        } else if state.has_frame(self.analysis.abi) {
            self.discovery.parts.push(to);
        }
    }

    /// Follows an indirect jump of a block, an instruction with a target, to each place where it may lead.
    pub(super) fn go_indirectly(&mut self, from: u32, jump: (u32, Value), state: &State) {
        let (jump, target) = jump;
        self.resolve(jump, target);
        let targets = self.progress.targets.get(&jump).cloned().unwrap_or_default();
        self.progress.leave_unfinished(from);
        if !targets.is_empty() {
            self.progress.unknown_jumps.remove(&jump);
        } else if !self.leaves_by(target, state) {
            self.progress.unknown_jumps.insert(jump);
        }
        for to in targets {
            self.go(from, to, state);
        }
    }

    /// Whether a jump to another function is a tail call in a state.
    fn leaves(&self, state: &State) -> bool {
        match self.analysis.is_open {
            true => state.may_be_at_entry(self.analysis.abi),
            false => state.is_at_entry(self.analysis.abi),
        }
    }

    /// Whether an indirect jump, whose targets in the function are not known, leads to another function.
    fn leaves_by(&self, target: Value, state: &State) -> bool {
        match target {
            Value::Target(table) if self.analysis.tables.is_pointer(table) => true,
            Value::Target(_) | Value::Element(_) => false,
            _ => self.leaves(state),
        }
    }

    /// Finds the targets of an indirect jump. In a round, a table has the same targets each time.
    fn resolve(&mut self, jump: u32, target: Value) {
        let Value::Target(table) = target else { return };
        if !self.resolved.insert((jump, table)) {
            return;
        }
        let is_inside = |address: u64| self.analysis.listing.contains(address);
        let found = self.analysis.tables.targets(table, self.surroundings, is_inside);
        let Some(found) = found else { return };
        let known = self.progress.targets.entry(jump).or_default();
        if !found.iter().all(|target| known.binary_search(target).is_ok()) {
            known.extend(found);
            known.sort_unstable();
            known.dedup();
        }
    }
}
