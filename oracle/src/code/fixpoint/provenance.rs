//! Provenance: the instructions that made frames what they are.

use core::ops::Range;

use super::Analysis;
use super::replay::Observer;
use crate::code::effect::RegisterSet;
use crate::code::judgement::{KnownFacts, ProvenRow};
use crate::code::state::AbstractState;
use crate::code::step::Step;

/// The maximum distance in bytes of an instruction from the one before which the frame is as it left it.
const FARTHEST: u64 = 256;

/// An instruction that is reached.
struct Reached {
    start: u64,
    end: u64,
    /// Whether the frame differs from that of the instruction reached before.
    is_changed: bool,
}

impl Analysis<'_> {
    /// For each of these addresses of instructions, which are ordered, the last instruction before it that changed the frame.
    /// `None` if control does not go straight on from there to the address, or if it is more than 256 bytes away.
    pub(in crate::code) fn changes_before(&mut self, addresses: &[u64]) -> Vec<Option<u64>> {
        let (Some(first), Some(last)) = (addresses.first(), addresses.last()) else {
            return Vec::new();
        };
        let reached = self.reached_in(first.saturating_sub(FARTHEST)..last.saturating_add(1));
        let mut changes = Vec::with_capacity(addresses.len());
        let mut rest = addresses.iter().peekable();
        let (mut before, mut change): (Option<&Reached>, Option<u64>) = (None, None);
        for here in &reached {
            change = match before.filter(|it| it.end == here.start && self.goes_on(it.start)) {
                Some(before) if here.is_changed => Some(before.start),
                Some(_) => change.filter(|change| here.start.saturating_sub(*change) <= FARTHEST),
                None => None,
            };
            while let Some(address) = rest.next_if(|address| **address <= here.start) {
                changes.push(change.filter(|_| *address == here.start));
            }
            before = Some(here);
        }
        changes.resize(addresses.len(), None);
        changes
    }

    /// The instructions in a range that are reached, in the order of addresses.
    fn reached_in(&mut self, range: Range<u64>) -> Vec<Reached> {
        let (mut reached, mut last, abi) = (Vec::new(), None::<ProvenRow>, self.abi);
        let one = |start: u64| start.saturating_add(1);
        let visit = |start: u64, end: u64, state: &AbstractState| {
            let known = KnownFacts { state, abi }.proven_row();
            reached.push(Reached { start, end, is_changed: last != Some(known) });
            last = Some(known);
        };
        self.visit(range, &mut Observer { watched: RegisterSet::ALL, until: one, visit });
        reached
    }

    /// Whether control may go on after the instruction at an address.
    fn goes_on(&self, address: u64) -> bool {
        let step = self.graph.step_at(address).and_then(|step| self.graph.step(step));
        step.is_some_and(Step::goes_on)
    }
}
