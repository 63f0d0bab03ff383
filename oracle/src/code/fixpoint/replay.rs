//! The replay: passes over the fixpoint once more, to derive the state before each instruction from that of its block.

use std::ops::Range;

use super::{Analysis, Progress};
use crate::code::block::Block;
use crate::code::effect::{ControlFlow, Effect, RegisterSet};
use crate::code::state::AbstractState;
use crate::code::step::{NO_INDEX, Step};
use crate::code::unproven::Unproven;

impl Analysis<'_> {
    /// The reached blocks by address, or nothing if the fixpoint cannot be trusted, and why it could not be.
    pub(super) fn reached(&self, progress: &Progress) -> (Vec<(u64, u32)>, Unproven) {
        if progress.has_unusual_entry {
            return (Vec::new(), Unproven::UnknownEntry);
        }
        let mut reached = Vec::with_capacity(self.blocks.len());
        for (number, _) in (0..).zip(&self.blocks).filter(|(_, block)| block.is_some()) {
            reached.push((self.graph.block_address(number), number));
        }
        reached.sort_unstable();
        match self.graph.may_overlap() && self.overlap(&reached) {
            true => (Vec::new(), Unproven::PathsDisagree),
            false => (reached, Unproven::UnknownEntry),
        }
    }

    /// Whether an instruction in one of these blocks starts in the middle of another: then some edge is wrong.
    fn overlap(&self, blocks: &[(u64, u32)]) -> bool {
        let mut end = 0;
        for (_, block) in blocks {
            let first = self.graph.first_step(*block).unwrap_or(NO_INDEX);
            for (number, step) in (first..).zip(self.graph.steps_from(first)) {
                if number != first && step.block != NO_INDEX {
                    break;
                }
                // A jump may skip the prefix of an instruction (glibc: `lock`), which ends at the same place.
                if step.address < end && step.end() != end {
                    return true;
                }
                end = step.end();
                if !step.goes_on() || step.following != number.saturating_add(1) {
                    break;
                }
            }
        }
        false
    }

    /// Passes the reached instructions in `range` to `observer` in runs, in the order of addresses.
    pub(in crate::code) fn visit<U, V>(&mut self, range: Range<u64>, observer: &mut Observer<U, V>)
    where
        U: FnMut(u64) -> u64,
        V: FnMut(u64, u64, &AbstractState),
    {
        let after = self.order.partition_point(|(address, _)| *address <= range.start);
        let mut done = range.start;
        for index in after.saturating_sub(1)..self.order.len() {
            let Some((address, block)) = self.order.get(index).copied() else { return };
            if address >= range.end {
                return;
            }
            let range = done..range.end;
            let steady = self.block(block).filter(|block| !block.changes.meet(observer.watched));
            done = match steady {
                Some(steady) => self.visit_steady(block, steady, range, observer),
                None => self.visit_block(block, range, observer),
            };
        }
    }

    /// Applies the transfer functions of a block again. Returns the end of its last instruction.
    fn visit_block<U, V>(
        &mut self,
        block: u32,
        range: Range<u64>,
        observer: &mut Observer<U, V>,
    ) -> u64
    where
        U: FnMut(u64) -> u64,
        V: FnMut(u64, u64, &AbstractState),
    {
        let mut run = Run { start: range.start, end: range.start, until: 0 };
        let Some(first) = self.graph.first_step(block) else { return run.end };
        let Some(block) = self.block(block) else { return run.end };
        let mut state = block.state.clone();
        // The instructions of a block were decoded one after the other.
        for (number, step) in (first..).zip(self.graph.steps_from(first)) {
            if number != first && step.block != NO_INDEX || step.address >= range.end {
                break;
            }
            if step.address >= run.end {
                if step.address >= run.until {
                    run.finish(&state, observer);
                }
                if run.is_empty() {
                    (run.start, run.until) = (step.address, (observer.until)(step.address));
                }
                run.end = step.end();
            }
            if state.concerns(step.subjects) {
                let effects = self.graph.effects(step);
                if effects.contains(&Effect::NamedByDirective) {
                    run.finish_apart(step, &state, observer);
                }
                if effects.iter().any(|effect| state.may_change(effect, observer.watched)) {
                    run.finish(&state, observer);
                }
                state.apply_all(effects, &mut self.tables);
            }
            let goes_on = match step.next {
                ControlFlow::Following => true,
                ControlFlow::SystemCall => !state.has_ended,
                ControlFlow::Branch(_, condition) => {
                    if self.is_open || state.learns_from(condition) {
                        run.finish(&state, observer);
                    }
                    self.fall_through(&mut state, condition)
                }
                ControlFlow::Call(_) | ControlFlow::IndirectCall | ControlFlow::CallBy(_) => {
                    !step.never_returns
                }
                _ => false,
            };
            if !goes_on || step.following != number.saturating_add(1) {
                break;
            }
        }
        run.finish(&state, observer);
        run.end
    }

    /// Goes over a steady block, which was executed to its end: its state holds before each instruction. Returns the end
    /// of the last one.
    fn visit_steady<U, V>(
        &self,
        number: u32,
        block: &Block,
        range: Range<u64>,
        observer: &mut Observer<U, V>,
    ) -> u64
    where
        U: FnMut(u64) -> u64,
        V: FnMut(u64, u64, &AbstractState),
    {
        let first = self.graph.first_step(number).unwrap_or(NO_INDEX);
        let mut rest = self.graph.steps_between(first, block.last);
        let before = |steps: &[Step], end: u64| steps.partition_point(|step| step.address < end);
        rest = rest.get(..before(rest, range.end)).unwrap_or_default();
        rest = rest.get(before(rest, range.start)..).unwrap_or_default();
        let mut end = range.start;
        while let Some(start) = rest.first().map(|step| step.address) {
            let (run, others) = rest.split_at(before(rest, (observer.until)(start)).max(1));
            end = run.last().map_or(end, Step::end);
            (observer.visit)(start, end, &block.state);
            rest = others;
        }
        end
    }
}

/// Whoever wants to see the states before a function's instructions.
pub(in crate::code) struct Observer<U, V> {
    /// The registers about which a state is asked. Instructions that change nothing of them are passed as one run.
    pub(in crate::code) watched: RegisterSet,
    /// Returns the address at which the run that starts at an address has to end.
    pub(in crate::code) until: U,
    /// Gets the address of the first instruction of a run, the end of the last one, and a state. What it says about the
    /// `watched` registers is true before each of them.
    pub(in crate::code) visit: V,
}

/// Instructions one after the other, before which the states agree in what is watched.
struct Run {
    start: u64,
    end: u64,
    /// It ends before the instruction here.
    until: u64,
}

impl Run {
    const fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Passes the run to the observer, and its last instruction, apart from the others, with a state that refutes nothing.
    fn finish_apart<U>(
        &mut self,
        last: &Step,
        state: &AbstractState,
        observer: &mut Observer<U, impl FnMut(u64, u64, &AbstractState)>,
    ) {
        if self.end == last.end() {
            self.end = last.address.max(self.start);
            self.finish(state, observer);
            self.end = last.end();
            let mut doubtful = state.clone();
            doubtful.doubt = Some(Unproven::NotInCode);
            self.finish(&doubtful, observer);
        }
    }

    /// Passes the run to the observer, unless it is empty. The next one starts at its end.
    fn finish<U>(
        &mut self,
        state: &AbstractState,
        observer: &mut Observer<U, impl FnMut(u64, u64, &AbstractState)>,
    ) {
        if !self.is_empty() {
            (observer.visit)(self.start, self.end, state);
            self.start = self.end;
        }
    }
}
