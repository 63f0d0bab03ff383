//! The state before each instruction of a function that was executed.

use std::ops::Range;

use super::Flow;
use crate::code::effect::Next;
use crate::code::listing::NONE;
use crate::code::state::State;

impl Flow<'_> {
    /// The reached blocks by address, or nothing if the function was not understood.
    pub(super) fn reached(&self) -> Vec<(u64, u32)> {
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
                if !matches!(step.next, Next::Following | Next::Branch(..) | Next::Call(_))
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
    pub(in crate::code) fn visit(
        &mut self,
        range: Range<u64>,
        visit: &mut dyn FnMut(u64, u64, &State),
    ) {
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
            self.apply(&step, &mut state);
            let goes_on = match step.next {
                Next::Following => true,
                Next::Branch(_, condition) => self.stay(&mut state, condition),
                Next::Call(_) => !self.is_final(at),
                _ => false,
            };
            if !goes_on {
                return;
            }
            at = step.following;
        }
    }
}
