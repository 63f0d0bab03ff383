//! The state before each instruction of a function that was executed.

use std::ops::Range;

use super::{Flow, stay};
use crate::code::block::Block;
use crate::code::effect::{Next, Registers};
use crate::code::state::State;
use crate::code::statement::Watched;
use crate::code::step::{NONE, Step};

impl Flow<'_> {
    /// The reached blocks by address, or nothing if the function was not understood.
    pub(super) fn reached(&self) -> Vec<(u64, u32)> {
        if self.is_unusual {
            return Vec::new();
        }
        let mut reached = Vec::with_capacity(self.blocks.len());
        for (number, _) in (0..).zip(&self.blocks).filter(|(_, block)| block.is_some()) {
            reached.push((self.listing.block_address(number), number));
        }
        reached.sort_unstable();
        match self.listing.may_overlap() && self.overlap(&reached) {
            true => Vec::new(),
            false => reached,
        }
    }

    /// Whether an instruction in one of these blocks starts in the middle of another: then some jump leads to a wrong
    /// place.
    fn overlap(&self, blocks: &[(u64, u32)]) -> bool {
        let mut end = 0;
        for (_, block) in blocks {
            let first = self.listing.first_step(*block).unwrap_or(NONE);
            for (number, step) in (first..).zip(self.listing.steps_from(first)) {
                if number != first && step.block != NONE {
                    break;
                }
                // A jump may skip the prefix of an instruction (glibc: `lock`), which ends at the same place.
                if step.address < end && step.end() != end {
                    return true;
                }
                end = step.end();
                let goes_on =
                    step.next.is_call() || matches!(step.next, Next::Following | Next::Branch(..));
                if !goes_on || step.is_final || step.following != number.saturating_add(1) {
                    break;
                }
            }
        }
        false
    }

    /// Passes runs of instructions in `range` that were reached to `visit`, in the order of addresses: the address of the first
    /// one, the end of the last one, and a state. What it says about the `watched` registers is true before each of them. `until`
    /// returns the address at which the run that starts at an address has to end.
    pub(in crate::code) fn visit(
        &mut self,
        range: Range<u64>,
        watched: Registers,
        mut until: impl FnMut(u64) -> u64,
        mut visit: impl FnMut(u64, u64, &State),
    ) {
        let after = self.order.partition_point(|(address, _)| *address <= range.start);
        let is_viewed = watched == Watched::viewed(self.abi).0;
        let mut done = range.start;
        for index in after.saturating_sub(1)..self.order.len() {
            let Some((address, block)) = self.order.get(index).copied() else { return };
            if address >= range.end {
                return;
            }
            let range = done..range.end;
            let steady = self.block(block).filter(|block| is_viewed && block.is_steady);
            done = match steady {
                Some(steady) => self.visit_steady(block, steady, range, &mut until, &mut visit),
                None => self.visit_block(block, range, watched, &mut until, &mut visit),
            };
        }
    }

    /// Visits the instructions of a block. Returns the end of the last one.
    fn visit_block(
        &mut self,
        block: u32,
        range: Range<u64>,
        watched: Registers,
        until: &mut impl FnMut(u64) -> u64,
        visit: &mut impl FnMut(u64, u64, &State),
    ) -> u64 {
        let mut run = Run { start: range.start, end: range.start, until: 0 };
        let Some(first) = self.listing.first_step(block) else { return run.end };
        let Some(block) = self.block(block) else { return run.end };
        let mut state = block.state.clone();
        // The instructions of a block were decoded one after the other.
        for (number, step) in (first..).zip(self.listing.steps_from(first)) {
            if number != first && step.block != NONE || step.address >= range.end {
                break;
            }
            if step.address >= run.end {
                if step.address >= run.until {
                    run.finish(&state, visit);
                }
                if run.is_empty() {
                    (run.start, run.until) = (step.address, until(step.address));
                }
                run.end = step.end();
            }
            if state.concerns(step.subjects) {
                let effects = self.listing.effects(step);
                if effects.iter().any(|effect| effect.changes().meet(watched)) {
                    run.finish(&state, visit);
                }
                state.apply_all(effects, &mut self.tables);
            }
            let goes_on = match step.next {
                Next::Following => true,
                Next::Branch(_, condition) => {
                    if self.is_open || state.learns_from(condition) {
                        run.finish(&state, visit);
                    }
                    stay(self.is_open, &mut state, condition)
                }
                Next::Call(_) | Next::IndirectCall => !step.is_final,
                _ => false,
            };
            if !goes_on || step.following != number.saturating_add(1) {
                break;
            }
        }
        run.finish(&state, visit);
        run.end
    }

    /// Visits the instructions of a steady block, which was executed to its end. Returns the end of the last one.
    fn visit_steady(
        &self,
        number: u32,
        block: &Block,
        range: Range<u64>,
        until: &mut impl FnMut(u64) -> u64,
        visit: &mut impl FnMut(u64, u64, &State),
    ) -> u64 {
        let first = self.listing.first_step(number).unwrap_or(NONE);
        let mut rest = self.listing.steps_between(first, block.last);
        let before = |steps: &[Step], end: u64| steps.partition_point(|step| step.address < end);
        rest = rest.get(..before(rest, range.end)).unwrap_or_default();
        rest = rest.get(before(rest, range.start)..).unwrap_or_default();
        let mut end = range.start;
        while let Some(start) = rest.first().map(|step| step.address) {
            let (run, others) = rest.split_at(before(rest, until(start)).max(1));
            end = run.last().map_or(end, Step::end);
            visit(start, end, &block.state);
            rest = others;
        }
        end
    }
}

/// Instructions one after the other, before which the same is known about what is watched.
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

    /// Passes the run to `visit`, unless it is empty. The next one starts at its end.
    fn finish(&mut self, state: &State, visit: &mut impl FnMut(u64, u64, &State)) {
        if !self.is_empty() {
            visit(self.start, self.end, state);
            self.start = self.end;
        }
    }
}
