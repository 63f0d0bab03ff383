//! What control can reach in code without names.

use std::collections::BTreeSet;

use sframe_validator::unwind::CodeAddress;

use super::candidates::{Pointers, Run};
use super::labels::labels;
use super::region::{Before, Mark, Region};
use crate::code::effect::{ControlFlow, Decoder};
use crate::code::imports::NoReturnImports;
use crate::code::machine::{Machine, WithDecoder};
use crate::witness::CodeRange;

/// The addresses to which compilers align functions, in bytes.
const ALIGNMENT: u64 = 16;
/// How often addresses that were rejected are judged again.
const MOST_ROUNDS: usize = 16;

/// What control can reach.
pub(super) struct Walk<'e, 'i> {
    /// In the order of addresses, without overlaps.
    regions: Vec<Region<'e>>,
    machine: Machine,
    imports: &'i NoReturnImports,
    starts: BTreeSet<u64>,
    /// Where control comes, and was not followed yet.
    waiting: Vec<u64>,
    /// The addresses that reached instructions contain, and were not judged yet.
    referenced: BTreeSet<u64>,
    /// The tables from which jumps take their targets.
    tables: BTreeSet<u64>,
    pointers: Pointers,
    /// The addresses in data that were taken for those of functions.
    accepted: Vec<Run>,
    /// The starts to which only addresses in code or data lead.
    inferred: Vec<u64>,
}

impl<'e> WithDecoder<'e> for Walk<'e, '_> {
    type Output = Vec<CodeRange>;

    fn run(mut self, decoder: &mut impl Decoder<'e>) -> Vec<CodeRange> {
        self.explore(decoder);
        self.sweep(decoder);
        self.explore(decoder);
        // The jump that shows that addresses are those of labels may be found after them.
        let is_table = |run: &&Run| run.is_jump_table(&self.tables);
        let in_tables = self.accepted.iter().filter(is_table).flat_map(|run| &run.targets);
        let in_tables: BTreeSet<u64> = in_tables.copied().collect();
        let inferred = core::mem::take(&mut self.inferred);
        let is_label =
            |address: &u64| in_tables.contains(address) || self.is_reached_from_before(*address);
        let (known, inferred): (BTreeSet<u64>, BTreeSet<u64>) =
            inferred.into_iter().partition(is_label);
        self.starts.retain(|start| !known.contains(start));
        self.remove_labels(known, &inferred, decoder);
        self.regions.iter().flat_map(|region| functions(region.range, &self.starts)).collect()
    }
}

impl<'e, 'i> Walk<'e, 'i> {
    /// A walk from the functions that start at `entries`.
    pub(super) fn new(
        regions: Vec<Region<'e>>,
        machine: Machine,
        imports: &'i NoReturnImports,
        starts: BTreeSet<u64>,
        pointers: Pointers,
    ) -> Walk<'e, 'i> {
        let waiting = starts.iter().copied().collect();
        let (referenced, tables) = Default::default();
        Walk {
            regions,
            machine,
            imports,
            starts,
            waiting,
            referenced,
            tables,
            pointers,
            accepted: Vec::new(),
            inferred: Vec::new(),
        }
    }

    fn region(&self, address: u64) -> Option<&Region<'e>> {
        let after = self.regions.partition_point(|it| it.range.start.address <= address);
        let region = self.regions.get(after.checked_sub(1)?)?;
        (address < region.range.end).then_some(region)
    }

    fn start(&mut self, address: u64) {
        if self.starts.insert(address) {
            self.waiting.push(address);
        }
    }

    /// Decodes the instructions from an address on, as far as control goes straight on and they are new.
    fn follow(&mut self, address: u64, decoder: &mut impl Decoder<'e>) {
        let after = self.regions.partition_point(|it| it.range.start.address <= address);
        let region = after.checked_sub(1).and_then(|index| self.regions.get_mut(index));
        let Some(region) = region else { return };
        let Some(mut offset) = region.offset(address) else { return };
        let mut called = Vec::new();
        while region.mark(offset) == Some(Mark::Unreached) {
            let address = region.address(offset);
            let Some(preview) = decoder.preview(region.code, offset, address) else { break };
            let next = address.saturating_add(u64::from(preview.length));
            self.referenced.extend(preview.refers);
            self.tables.extend(preview.table);
            let flow = self.imports.next(preview.next);
            let mark = Mark::of(flow, next);
            offset = region.reach(offset, preview.length, mark);
            match flow {
                // A call of the next instruction is a push.
                ControlFlow::Call(to) if to != next => called.push(to),
                ControlFlow::Branch(to, _) | ControlFlow::Jump(to) => self.waiting.push(to),
                _ => {}
            }
            if mark.ends() {
                break;
            }
        }
        called.into_iter().for_each(|to| self.start(to));
    }

    /// Follows control, and the addresses that lead to functions, until there are no more.
    fn explore(&mut self, decoder: &mut impl Decoder<'e>) {
        // What was rejected may be accepted once more code is reached. Asking each time would take quadratic time.
        let (mut rejected, mut rounds) = (BTreeSet::new(), 0..MOST_ROUNDS);
        loop {
            while let Some(address) = self.waiting.pop() {
                self.follow(address, decoder);
            }
            let new = core::mem::take(&mut self.referenced);
            if !new.is_empty() {
                self.accept(new, &mut rejected);
                continue;
            }
            if rounds.next().is_none() {
                break;
            }
            self.accept_runs();
            let again = core::mem::take(&mut rejected);
            self.accept(again, &mut rejected);
            if self.waiting.is_empty() {
                break;
            }
        }
        self.referenced = rejected;
    }

    /// Accepts the addresses that lead to functions, and adds the others to `rejected`.
    fn accept(&mut self, addresses: BTreeSet<u64>, rejected: &mut BTreeSet<u64>) {
        for address in addresses {
            if self.is_start(address) {
                self.infer(address);
            } else {
                rejected.insert(address);
            }
        }
    }

    /// Accepts the addresses in data of which all adjacent ones lead to functions.
    fn accept_runs(&mut self) {
        let runs = core::mem::take(&mut self.pointers.runs);
        let is_accepted = |run: &Run| {
            !run.is_jump_table(&self.tables) && run.targets.iter().all(|it| self.is_start(*it))
        };
        let (accepted, others): (Vec<Run>, Vec<Run>) = runs.into_iter().partition(is_accepted);
        self.pointers.runs = others;
        accepted.iter().flat_map(|run| &run.targets).for_each(|it| self.infer(*it));
        self.accepted.extend(accepted);
    }

    /// Takes an address that code or data contains for the start of a function.
    fn infer(&mut self, address: u64) {
        if !self.starts.contains(&address) {
            self.inferred.push(address);
            self.start(address);
        }
    }

    /// Decodes the code that is not reached, such as the cases to which a jump by a table leads. It may be data, so that where its
    /// calls lead is judged as other addresses are.
    fn sweep(&mut self, decoder: &mut impl Decoder<'e>) {
        let unit = usize::from(self.machine.conventions().shortest_instruction);
        for region in self.regions.iter_mut().filter(|region| !region.may_be_data) {
            let mut offset = 0;
            while let Some(mark) = region.mark(offset) {
                let address = region.address(offset);
                let preview = match mark {
                    Mark::Unreached => decoder.preview(region.code, offset, address),
                    _ => None,
                };
                let Some(preview) = preview else {
                    offset = offset.saturating_add(unit);
                    continue;
                };
                let flow = self.imports.next(preview.next);
                let next = address.saturating_add(u64::from(preview.length));
                offset = region.sweep(offset, preview.length, Mark::of(flow, next));
                self.referenced.extend(preview.refers);
                self.tables.extend(preview.table);
                if let ControlFlow::Call(to) = flow {
                    self.referenced.insert(to);
                }
            }
        }
    }

    /// Removes those of the inferred starts that are labels, as jumps between the code after them show. One shows others: what looks
    /// like a call in tail position may lead to a label.
    fn remove_labels(
        &mut self,
        mut known: BTreeSet<u64>,
        inferred: &BTreeSet<u64>,
        decoder: &mut impl Decoder<'e>,
    ) {
        for region in &self.regions {
            let range = region.range.start.address..region.range.end;
            for _ in 0..MOST_ROUNDS {
                let starts: Vec<u64> = self.starts.range(range.clone()).copied().collect();
                let labels = labels((region, self.machine), &starts, (inferred, &known), decoder);
                if labels.is_empty() {
                    break;
                }
                for label in labels {
                    self.starts.remove(&label);
                    known.insert(label);
                }
            }
        }
    }

    fn is_reached_from_before(&self, address: u64) -> bool {
        let region = self.region(address);
        region.is_some_and(|it| it.before(address, self.machine) == Before::Continues)
    }

    /// Whether an address that code or data contains is the start of a function: control does not come to it from the instruction
    /// before, as to most labels.
    fn is_start(&self, address: u64) -> bool {
        if self.starts.contains(&address) {
            return true;
        }
        let region = self.region(address).filter(|region| !region.may_be_data);
        let Some(region) = region else { return false };
        let unit = u64::from(self.machine.conventions().shortest_instruction);
        if !address.is_multiple_of(unit) {
            return false;
        }
        let is_aligned = address.is_multiple_of(ALIGNMENT);
        let mark = region.offset(address).and_then(|offset| region.mark(offset));
        match (mark, region.before(address, self.machine)) {
            (None | Some(Mark::Inside), _) | (_, Before::Continues | Before::JumpsByRegister) => {
                false
            }
            (Some(Mark::Unreached), Before::Ends) if !self.pointers.may_be_labels => true,
            (Some(_), Before::Ends | Before::MayEnd) => is_aligned,
            (Some(mark), Before::Unknown) => is_aligned && mark == Mark::Unreached,
        }
    }
}

/// The functions of a section with these starts.
fn functions(section: CodeRange, starts: &BTreeSet<u64>) -> Vec<CodeRange> {
    let inside: Vec<u64> = starts.range(section.start.address..section.end).copied().collect();
    let ends = inside.iter().skip(1).copied().chain([section.end]);
    let range = |(start, end): (&u64, u64)| CodeRange {
        start: CodeAddress { address: *start, ..section.start },
        end,
    };
    inside.iter().zip(ends).map(range).collect()
}
