//! Losses: the instruction at which, or the join in which, a part of a frame ceases to be known.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::Analysis;
use crate::code::effect::ControlFlow;
use crate::code::judgement::{FramePart, KnownFacts};
use crate::code::step::Step;
use crate::code::unproven::Unproven;

/// Why a part of the frame is not known, and the address of the instruction to blame.
pub(in crate::code) type Loss = (Unproven, Option<u64>);

/// What is known about the losses of one function, so that time is linear in its size.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    /// For each analysis: the blocks from which control comes to each block, and the instruction that leads there.
    before: BTreeMap<usize, BTreeMap<u32, Vec<(u32, u32)>>>,
    /// The losses before blocks.
    known: BTreeMap<(usize, u32, FramePart), Loss>,
    /// What happens in blocks at whose start the part is known.
    within: BTreeMap<(usize, u32, FramePart), Vec<Event>>,
}

/// From this address on, a part of the frame is lost, or known again.
type Event = (u64, Option<Loss>);

impl Losses {
    /// Why `part` is not known before the instruction at an address, which the analysis with this number reaches. `None` if it is.
    pub(in crate::code) fn find(
        &mut self,
        (number, analysis): (usize, &mut Analysis<'_>),
        address: u64,
        part: FramePart,
    ) -> Option<Loss> {
        let block = analysis.block_containing(address)?;
        if analysis.proves_at_start(block, part) {
            return self.find_within((number, analysis), block, address, part);
        }
        let known = self.before.remove(&number);
        let before = known.unwrap_or_else(|| analysis.blocks_before());
        let loss = self.find_before((number, &mut *analysis), &before, block, part);
        self.before.insert(number, before);
        Some(loss)
    }

    /// The loss before a block at whose start the part is not known. `before` has the edges that lead to each block.
    fn find_before(
        &mut self,
        (number, analysis): (usize, &mut Analysis<'_>),
        before: &BTreeMap<u32, Vec<(u32, u32)>>,
        block: u32,
        part: FramePart,
    ) -> Loss {
        let (mut passed, mut queue) = (BTreeSet::from([block]), VecDeque::from([block]));
        let mut loss = (Unproven::PathsDisagree, None);
        while let Some(here) = queue.pop_front() {
            if let Some(known) = self.known.get(&(number, here, part)) {
                loss = *known;
                break;
            }
            let edges = before.get(&here).map(Vec::as_slice).unwrap_or_default();
            let on_edge =
                |edge: &(u32, u32)| self.find_on_edge((number, &mut *analysis), *edge, part);
            if let Some(found) = edges.iter().find_map(on_edge) {
                loss = found;
                break;
            }
            let (known, lost): (Vec<u32>, Vec<u32>) = edges
                .iter()
                .map(|(from, _)| *from)
                .partition(|from| analysis.proves_at_start(*from, part));
            if edges.is_empty() {
                loss = (Unproven::UnknownEntry, None);
                break;
            }
            // It is known on a path, and not on all: unless another path has lost it, they disagree here.
            if !known.is_empty() && loss.1.is_none() {
                loss.1 = analysis.first_address(here);
            }
            queue.extend(lost.into_iter().filter(|from| passed.insert(*from)));
        }
        for block in passed {
            self.known.insert((number, block, part), loss);
        }
        loss
    }

    /// The loss before control leaves a block by an edge: up to the instruction that leads there, and including it.
    fn find_on_edge(
        &mut self,
        (number, analysis): (usize, &mut Analysis<'_>),
        (block, by): (u32, u32),
        part: FramePart,
    ) -> Option<Loss> {
        let end = analysis.graph.step(by).map(Step::end)?;
        let is_known = analysis.proves_at_start(block, part);
        is_known.then(|| self.find_within((number, analysis), block, end, part)).flatten()
    }

    /// The loss in a block at whose start the part is known, before an address.
    fn find_within(
        &mut self,
        (number, analysis): (usize, &mut Analysis<'_>),
        block: u32,
        address: u64,
        part: FramePart,
    ) -> Option<Loss> {
        let events = self
            .within
            .entry((number, block, part))
            .or_insert_with(|| analysis.events_within(block, part));
        let after = events.partition_point(|(from, _)| *from <= address);
        events.get(after.checked_sub(1)?)?.1
    }
}

impl Analysis<'_> {
    /// The block that contains an instruction that is reached.
    fn block_containing(&self, address: u64) -> Option<u32> {
        let after = self.order.partition_point(|(start, _)| *start <= address);
        self.order.get(after.checked_sub(1)?).map(|(_, block)| *block)
    }

    fn first_address(&self, block: u32) -> Option<u64> {
        self.graph.first_step(block).and_then(|step| self.graph.step(step)).map(|it| it.address)
    }

    /// The blocks from which control comes to each block that is reached, and the number of the instruction that leads there.
    fn blocks_before(&self) -> BTreeMap<u32, Vec<(u32, u32)>> {
        let mut before: BTreeMap<u32, Vec<(u32, u32)>> = BTreeMap::new();
        for (_, block) in &self.order {
            for edge in self.edges_of(*block) {
                before.entry(edge.to).or_default().push((*block, edge.from));
            }
        }
        before
    }

    /// Whether a part of the frame is known at the start of a block.
    fn proves_at_start(&self, block: u32, part: FramePart) -> bool {
        let abi = self.abi;
        self.block(block).is_some_and(|it| KnownFacts { state: &it.state, abi }.proves(part))
    }

    /// Where the part, which is known at the start of a block, is lost in it, and known again.
    fn events_within(&mut self, block: u32, part: FramePart) -> Vec<Event> {
        let Some(mut state) = self.block(block).map(|block| block.state.clone()) else {
            return Vec::new();
        };
        let abi = self.abi;
        let steps: Vec<Step> = self.steps_of(block).map(|(_, step)| *step).collect();
        let (mut events, mut is_known) = (Vec::new(), true);
        for step in &steps {
            state.apply_all(self.graph.effects(step), &mut self.tables);
            let facts = KnownFacts { state: &state, abi };
            if facts.proves(part) != is_known {
                is_known = !is_known;
                let loss = (Unproven::UnknownValue, Some(step.address));
                events.push((step.end(), (!is_known).then_some(loss)));
            }
            if let ControlFlow::Branch(_, condition) = step.next {
                self.fall_through(&mut state, condition);
            }
        }
        events
    }
}
