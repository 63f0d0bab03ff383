//! Ways through the code to a place, and what is known on them: the proof of what the machine code says there.

use std::collections::{BTreeMap, BTreeSet};

use sframe_validator::unwind::{CodeAddress, Recovery, Register};

use super::fixpoint::{Arrival, Observer, Stage};
use super::function::Function;
use super::judgement::{KnownFacts, ProvenRow};
use super::program::Program;
use super::state::AbstractState;
use super::view::WatchedRegisters;
use crate::witness::CodeRange;

/// The maximum number of edges to one instruction that are listed.
const MOST_EDGES: usize = 64;

/// An instruction on the way from an entry of a function to a place.
#[derive(Clone, Debug)]
pub struct WayStep {
    /// Where it is.
    pub place: CodeAddress,
    /// Its length in bytes.
    pub length: u64,
    /// How control comes to it.
    pub arrival: Arrival,
    /// The number of known edges and entries that lead to it: where there are several, only what is true on all of them is known.
    pub ways: usize,
    /// What is known before it.
    pub row: ProvenRow,
    /// How the registers that were asked about are recovered before it, as far as it is known.
    pub registers: Vec<Option<Recovery>>,
}

/// An edge to an instruction, and what is known when control comes by it.
#[derive(Clone, Debug)]
pub struct IncomingEdge {
    /// The instruction from which control comes.
    pub from: CodeAddress,
    /// What is known.
    pub row: ProvenRow,
    /// How the registers that were asked about are recovered, as far as it is known.
    pub registers: Vec<Option<Recovery>>,
}

impl<'e> Program<'e> {
    /// A way from an entry to the instruction of `function` that contains an address, with what is known before each instruction, also
    /// of some registers. `None` if no known path leads there, or none with at most 2^14 instructions.
    pub fn way_to(
        &self,
        function: &mut Function<'e>,
        address: u64,
        registers: &[Register],
    ) -> Option<Vec<WayStep>> {
        function.find_way(address, registers, |address| self.place(address))
    }

    /// What is known on the edges that lead to the instruction at an address of `function`, also of some registers: the first edge with
    /// each content, at most 64. What they differ in is not known after the join. Empty if it does not start a basic block.
    pub fn edges_to(
        &self,
        function: &mut Function<'e>,
        address: u64,
        registers: &[Register],
    ) -> Vec<IncomingEdge> {
        function.find_edges(address, registers, |address| self.place(address))
    }
}

impl Function<'_> {
    /// A way from an entry of the function, or of one of those to which its code belongs, to the instruction that contains an address,
    /// with what is known before each instruction. `place` finds the section of an address in the analysis.
    fn find_way(
        &mut self,
        address: u64,
        registers: &[Register],
        place: impl Fn(u64) -> CodeAddress,
    ) -> Option<Vec<WayStep>> {
        let abi = self.abi;
        let flat = address.wrapping_add(self.base);
        let mut way: Option<Vec<WayStep>> = self.analyses.iter_mut().find_map(|analysis| {
            let address = flat;
            let stages = analysis.way_to(address)?;
            let on_way: BTreeSet<u64> = stages.iter().map(|stage| stage.address).collect();
            let (first, last) = (*on_way.first()?, *on_way.last()?);
            let mut known = BTreeMap::new();
            let visit = |start: u64, _: u64, state: &AbstractState| {
                if on_way.contains(&start) {
                    let facts = KnownFacts { state, abi };
                    let registers: Vec<_> =
                        registers.iter().map(|register| facts.recovery(*register)).collect();
                    known.insert(start, (facts.proven_row(), registers));
                }
            };
            let until = |from: u64| from.saturating_add(1);
            let watched = WatchedRegisters::ALL.0;
            analysis.visit(first..last.saturating_add(1), &mut Observer { watched, until, visit });
            let step = |Stage { address, end, arrival, ways }: Stage| {
                let (row, registers) = known.get(&address).cloned()?;
                let (length, place) = (end.wrapping_sub(address), place(address));
                Some(WayStep { place, length, arrival, ways, row, registers })
            };
            stages.into_iter().map(step).collect()
        });
        if let Some(way) = &mut way
            && self.analyses.len() > 1
        {
            self.join_on(way, registers);
        }
        way
    }

    /// Corrects a way through code that belongs to several functions: only what is true for all of them is known there.
    fn join_on(&mut self, way: &mut [WayStep], registers: &[Register]) {
        let mut known = BTreeMap::new();
        let CodeRange { start, end } = self.range;
        self.visit(start.address..end, |address, _, facts| {
            let registers: Vec<_> = registers.iter().map(|it| facts.recovery(*it)).collect();
            known.insert(address, (facts.proven_row(), registers));
        });
        let own: Vec<usize> = (0..way.len())
            .filter(|index| way.get(*index).is_some_and(|step| self.contains(step.place)))
            .collect();
        let places = own.iter().filter_map(|index| way.get(*index));
        let addresses: Vec<u64> =
            places.map(|step| step.place.address.wrapping_add(self.base)).collect();
        let mut ways = vec![0_usize; own.len()];
        for analysis in &self.analyses {
            for (sum, count) in ways.iter_mut().zip(analysis.ways_to(&addresses)) {
                *sum = sum.saturating_add(count);
            }
        }
        for (index, ways) in own.into_iter().zip(ways) {
            let Some(step) = way.get_mut(index) else { continue };
            step.ways = step.ways.max(ways);
            if let Some((row, registers)) = known.remove(&step.place.address) {
                (step.row, step.registers) = (row, registers);
            }
        }
    }

    /// The first edge with each content that leads to the instruction at an address, in the functions to which the code belongs.
    /// `place` finds the section of an address in the analysis.
    fn find_edges(
        &mut self,
        address: u64,
        registers: &[Register],
        place: impl Fn(u64) -> CodeAddress,
    ) -> Vec<IncomingEdge> {
        let (abi, address) = (self.abi, address.wrapping_add(self.base));
        let mut edges: Vec<IncomingEdge> = Vec::new();
        for analysis in &mut self.analyses {
            analysis.visit_edges_to(address, |from, state| {
                let facts = KnownFacts { state, abi };
                let row = facts.proven_row();
                let registers = registers.iter().map(|it| facts.recovery(*it)).collect();
                let is_new =
                    |known: &IncomingEdge| known.row != row || known.registers != registers;
                if edges.len() < MOST_EDGES && edges.iter().all(is_new) {
                    edges.push(IncomingEdge { from: place(from), row, registers });
                }
            });
        }
        edges
    }
}
