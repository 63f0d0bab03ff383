//! The state before each instruction of a function that was executed.

use std::ops::Range;

use super::{Flow, stay};
use crate::code::effect::Next;
use crate::code::state::State;
use crate::code::step::NONE;

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
                    matches!(step.next, Next::Following | Next::Branch(..) | Next::Call(_));
                if !goes_on || step.is_final || step.following != number.saturating_add(1) {
                    break;
                }
            }
        }
        false
    }

    /// Passes each instruction in `range` that was reached to `visit`, in the order of addresses: its address, its end,
    /// and the state before it.
    pub(in crate::code) fn visit(
        &mut self,
        range: Range<u64>,
        mut visit: impl FnMut(u64, u64, &State),
    ) {
        let after = self.order.partition_point(|(address, _)| *address <= range.start);
        let mut done = range.start;
        for index in after.saturating_sub(1)..self.order.len() {
            let Some((address, block)) = self.order.get(index).copied() else { return };
            if address >= range.end {
                return;
            }
            done = self.visit_block(block, done..range.end, &mut visit);
        }
    }

    /// Visits the instructions of a block. Returns the end of the last one.
    fn visit_block(
        &mut self,
        block: u32,
        range: Range<u64>,
        visit: &mut impl FnMut(u64, u64, &State),
    ) -> u64 {
        let mut done = range.start;
        let Some(first) = self.listing.first_step(block) else { return done };
        let Some(block) = self.block(block) else { return done };
        let mut state = block.state.clone();
        // The instructions of a block were decoded one after the other.
        for (number, step) in (first..).zip(self.listing.steps_from(first)) {
            if number != first && step.block != NONE || step.address >= range.end {
                break;
            }
            if step.address >= done {
                visit(step.address, step.end(), &state);
                done = step.end();
            }
            state.apply_all(step.subjects, self.listing.effects(step), &mut self.tables);
            let goes_on = match step.next {
                Next::Following => true,
                Next::Branch(_, condition) => stay(self.is_open, &mut state, condition),
                Next::Call(_) => !step.is_final,
                _ => false,
            };
            if !goes_on || step.following != number.saturating_add(1) {
                break;
            }
        }
        done
    }
}
