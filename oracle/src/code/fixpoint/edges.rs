//! The edges that leave a basic block: the targets of its jumps, branches and exceptions, and the state on each edge.

use super::round::Round;
use crate::code::context::FileContext;
use crate::code::effect::Condition;
use crate::code::state::AbstractState;
use crate::code::step::{NO_INDEX, Step};
use crate::code::value::AbstractValue;
use crate::code::worklist::{Assumption, Edge};

impl<'c, C: FileContext<'c>> Round<'_, 'c, C> {
    /// Follows the edge of a conditional branch, if the state allows that it is taken.
    pub(super) fn follow_branch(
        &mut self,
        from: u32,
        (to, condition): (u64, Condition),
        state: &AbstractState,
    ) {
        if !state.learns_from(condition) {
            return self.follow_jump(from, to, state);
        }
        let mut taken = state.clone();
        if taken.refine(condition) {
            self.follow_jump(from, to, &taken);
        }
    }

    /// Follows the edge of an exception that passes a call.
    pub(super) fn follow_exception(&mut self, from: u32, call: &Step, state: &AbstractState) {
        let exceptions = &self.analysis.graph.exceptions;
        if let Some(pad) = exceptions.pad_of(call.address) {
            let mut caught = state.clone();
            caught.remove(exceptions.arguments_of(call.address));
            self.follow_jump(from, pad, &caught);
        }
    }

    /// Follows the edge of a jump: to a block, to code that has to be discovered, or out of the function.
    pub(super) fn follow_jump(&mut self, from: u32, to: u64, state: &AbstractState) {
        let graph = &self.analysis.graph;
        let step = graph.step_at(to).and_then(|step| graph.step(step));
        if let Some(&Step { block, .. }) = step.filter(|step| step.block != NO_INDEX) {
            return self.enter(Edge { to: block, assumption: Assumption::Nothing }, state);
        }
        self.progress.leave_unfinished(from);
        if graph.is_not_code(to) {
            return;
        }
        if graph.contains(to) {
            self.discovery.undecoded.push(to);
        } else if !state.can_return() && self.is_return(to) {
            self.progress.has_unusual_entry = true;
        } else if self.is_tail_call(state) {
            self.analysis.tail_calls.insert(to);
            self.analysis.leave(state);
        } else if state.has_frame(self.analysis.abi) {
            self.discovery.fragments.push(to);
        }
    }

    /// Follows the edges of an indirect jump, an instruction and the abstract value of its target.
    pub(super) fn follow_indirect_jump(
        &mut self,
        from: u32,
        jump: (u32, AbstractValue),
        state: &AbstractState,
    ) {
        let (jump, target) = jump;
        self.resolve(jump, target);
        let targets = self.progress.targets.get(&jump).cloned().unwrap_or_default();
        self.progress.leave_unfinished(from);
        if !targets.is_empty() {
            self.progress.unknown_jumps.remove(&jump);
            self.progress.indirect_tail_calls.remove(&jump);
        } else if self.is_indirect_tail_call(target, state) {
            if !self.is_pointer(target) {
                self.progress.indirect_tail_calls.insert(jump);
            }
            self.analysis.leave(state);
        } else {
            self.progress.unknown_jumps.insert(jump);
        }
        for to in targets {
            self.follow_jump(from, to, state);
        }
    }

    /// Whether nothing but a return is at an address. The Linux kernel's functions jump there instead of returning.
    fn is_return(&self, address: u64) -> bool {
        let expected = self.context.conventions().return_instruction;
        self.context.read(address, expected.len()).is_some_and(|code| code == expected)
    }

    /// Whether a jump to another function is a tail call in a state.
    fn is_tail_call(&self, state: &AbstractState) -> bool {
        match self.analysis.is_open {
            true => state.may_be_at_entry(self.analysis.abi),
            false => state.is_at_entry(self.analysis.abi),
        }
    }

    /// Whether an indirect jump without known targets in the function is a tail call in a state.
    fn is_indirect_tail_call(&self, target: AbstractValue, state: &AbstractState) -> bool {
        match target {
            AbstractValue::Target(_) | AbstractValue::Element(_) => self.is_pointer(target),
            _ => self.is_tail_call(state),
        }
    }

    /// Whether a target is read from a fixed address, such as an entry of the GOT: it is another function.
    fn is_pointer(&self, target: AbstractValue) -> bool {
        matches!(target, AbstractValue::Target(table) if self.analysis.tables.is_pointer(table))
    }

    /// Looks up the targets of an indirect jump. In a round, a table has the same targets each time.
    fn resolve(&mut self, jump: u32, target: AbstractValue) {
        let AbstractValue::Target(table) = target else { return };
        if !self.resolved.insert((jump, table)) {
            return;
        }
        let is_inside = |address: u64| self.analysis.graph.contains(address);
        let found = self.analysis.tables.targets(table, self.context, is_inside);
        let Some(found) = found else { return };
        let known = self.progress.targets.entry(jump).or_default();
        if !found.iter().all(|target| known.binary_search(target).is_ok()) {
            known.extend(found);
            known.sort_unstable();
            known.dedup();
        }
    }
}
