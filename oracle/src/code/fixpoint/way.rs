//! A way from an entry of a function to an instruction, for whoever wants to check what is proven there.

use std::collections::{BTreeMap, VecDeque};

use super::Analysis;
use crate::code::context::EntryKind;
use crate::code::effect::ControlFlow;
use crate::code::state::AbstractState;
use crate::code::step::{NO_INDEX, Step};

/// The maximum number of instructions of a way.
const MAX_STAGES: usize = 1 << 14;

/// How control comes to an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It is an entry of the function.
    Entry(EntryKind),
    /// After the instruction before it.
    Following,
    /// By a jump.
    Jump,
    /// By an exception that passes a call.
    Exception,
}

/// An instruction of a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::code) struct Stage {
    pub(in crate::code) address: u64,
    pub(in crate::code) end: u64,
    pub(in crate::code) arrival: Arrival,
    /// The number of ways in which control comes here.
    pub(in crate::code) ways: usize,
}

/// An edge from an instruction to a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    /// The number of the instruction.
    pub(super) from: u32,
    pub(super) to: u32,
    arrival: Arrival,
}

impl Analysis<'_> {
    /// A way with few blocks from an entry to the instruction that contains an address. `None` if it is not reached.
    pub(in crate::code) fn way_to(&self, address: u64) -> Option<Vec<Stage>> {
        let after = self.order.partition_point(|(start, _)| *start <= address);
        let (_, target) = *self.order.get(after.checked_sub(1)?)?;
        let last = self
            .steps_of(target)
            .find(|(_, step)| (step.address..step.end()).contains(&address))?
            .0;
        let ways = self.ways_to_blocks();
        // The edge by which each block was found, from a block with this number.
        let mut found: BTreeMap<u32, Option<(u32, Edge)>> = BTreeMap::new();
        let mut queue = VecDeque::new();
        for entry in &self.entries {
            if let Some(block) = self.block_starting_at(entry.address) {
                found.entry(block).or_insert_with(|| {
                    queue.push_back(block);
                    None
                });
            }
        }
        while let Some(block) = queue.pop_front() {
            for edge in self.edges_of(block) {
                found.entry(edge.to).or_insert_with(|| {
                    queue.push_back(edge.to);
                    Some((block, edge))
                });
            }
        }
        let mut blocks = vec![(target, last)];
        let mut block = target;
        while let Some((from, edge)) = found.get(&block)? {
            blocks.push((*from, edge.from));
            block = *from;
            if blocks.len() > MAX_STAGES {
                return None;
            }
        }
        let mut stages = Vec::new();
        for (block, last) in blocks.into_iter().rev() {
            let arrival = match found.get(&block)? {
                Some((_, edge)) => edge.arrival,
                None => Arrival::Entry(self.entry_kind(block)),
            };
            let count = ways.get(&block).copied().unwrap_or_default();
            for (index, (number, step)) in self.steps_of(block).enumerate() {
                let (arrival, ways) =
                    if index == 0 { (arrival, count) } else { (Arrival::Following, 1) };
                stages.push(Stage { address: step.address, end: step.end(), arrival, ways });
                if number == last || stages.len() > MAX_STAGES {
                    break;
                }
            }
        }
        (stages.len() <= MAX_STAGES).then_some(stages)
    }

    /// The number of edges and entries that lead to each block.
    fn ways_to_blocks(&self) -> BTreeMap<u32, usize> {
        let mut ways: BTreeMap<u32, usize> = BTreeMap::new();
        let entries = self.entries.iter().filter_map(|it| self.block_starting_at(it.address));
        let edges = self.order.iter().flat_map(|(_, block)| self.edges_of(*block));
        for block in entries.chain(edges.map(|edge| edge.to)) {
            *ways.entry(block).or_default() += 1;
        }
        ways
    }

    /// The number of edges and entries that lead to each of these addresses of instructions, apart from the instruction before it in
    /// its block.
    pub(in crate::code) fn ways_to(&self, addresses: &[u64]) -> Vec<usize> {
        let ways = self.ways_to_blocks();
        let to = |address: &u64| self.block_starting_at(*address).and_then(|it| ways.get(&it));
        addresses.iter().map(|address| to(address).copied().unwrap_or_default()).collect()
    }

    /// Passes each edge to the instruction at an address to `visit`, if it starts a block: the address of the instruction from which
    /// control comes, and the state on the edge. An exception that passes calls of one block is an edge for each of them.
    pub(in crate::code) fn visit_edges_to(
        &mut self,
        address: u64,
        mut visit: impl FnMut(u64, &AbstractState),
    ) {
        let Some(to) = self.block_starting_at(address) else { return };
        let blocks: Vec<u32> = self.order.iter().map(|(_, block)| *block).collect();
        for block in blocks {
            let mut edges = self.edges_of(block);
            edges.retain(|edge| edge.to == to);
            if !edges.is_empty() {
                self.visit_edges_of(block, &edges, &mut visit);
            }
        }
    }

    /// Passes the states on edges that leave a block to `visit`, in the order of instructions, if control can go this way.
    fn visit_edges_of(
        &mut self,
        block: u32,
        edges: &[Edge],
        visit: &mut impl FnMut(u64, &AbstractState),
    ) {
        let Some(mut state) = self.block(block).map(|block| block.state.clone()) else { return };
        let steps: Vec<(u32, Step)> =
            self.steps_of(block).map(|(number, step)| (number, *step)).collect();
        let mut edges = edges.iter().peekable();
        for (number, step) in steps {
            state.apply_all(self.graph.effects(&step), &mut self.tables);
            while let Some(edge) = edges.next_if(|edge| edge.from == number) {
                let mut on_edge = state.clone();
                let is_possible = match (edge.arrival, step.next) {
                    (Arrival::Jump, ControlFlow::Branch(_, condition)) => on_edge.refine(condition),
                    (_, ControlFlow::Branch(_, condition)) => {
                        self.fall_through(&mut on_edge, condition)
                    }
                    (Arrival::Exception, _) => {
                        on_edge.remove(self.graph.exceptions.arguments_of(step.address));
                        true
                    }
                    _ => true,
                };
                if is_possible {
                    visit(step.address, &on_edge);
                }
            }
            if let ControlFlow::Branch(_, condition) = step.next {
                self.fall_through(&mut state, condition);
            }
        }
    }

    /// How the entry at the start of a block is reached.
    fn entry_kind(&self, block: u32) -> EntryKind {
        let address = self.graph.block_address(block);
        let entry = self.entries.iter().find(|entry| entry.address == address);
        entry.map_or(EntryKind::Presumed, |entry| entry.kind)
    }

    /// The block that starts at an address, if it is reached.
    fn block_starting_at(&self, address: u64) -> Option<u32> {
        let step = self.graph.step_at(address).and_then(|step| self.graph.step(step))?;
        self.block(step.block).map(|_| step.block)
    }

    /// The instructions of a block, with their numbers.
    pub(super) fn steps_of(&self, block: u32) -> impl Iterator<Item = (u32, &Step)> {
        let first = self.graph.first_step(block).unwrap_or(NO_INDEX);
        let mut is_over = false;
        (first..).zip(self.graph.steps_from(first)).take_while(move |(number, step)| {
            let is_next = !is_over && (*number == first || step.block == NO_INDEX);
            is_over = step.following != number.saturating_add(1) || !step.goes_on();
            is_next
        })
    }

    /// The edges that leave a block.
    pub(super) fn edges_of(&self, block: u32) -> Vec<Edge> {
        let mut edges = Vec::new();
        let mut last = None;
        for (from, step) in self.steps_of(block) {
            let mut add = |address: u64, arrival: Arrival| {
                let to = self.block_starting_at(address);
                edges.extend(to.map(|to| Edge { from, to, arrival }));
            };
            match step.next {
                ControlFlow::Jump(to) | ControlFlow::Branch(to, _) => add(to, Arrival::Jump),
                ControlFlow::Indirect(_) => {
                    for to in self.targets.get(&from).into_iter().flatten() {
                        add(*to, Arrival::Jump);
                    }
                }
                _ if step.next.is_call() => {
                    if let Some(pad) = self.graph.exceptions.pad_of(step.address) {
                        add(pad, Arrival::Exception);
                    }
                }
                _ => {}
            }
            last = Some((from, step));
        }
        if let Some((from, step)) = last.filter(|(_, step)| step.goes_on())
            && let Some(next) = self.graph.step(step.following)
            && self.block(next.block).is_some()
        {
            edges.push(Edge { from, to: next.block, arrival: Arrival::Following });
        }
        edges
    }
}
