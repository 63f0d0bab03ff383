//! A function, as those see it who ask what its code proves.

use std::collections::BTreeMap;
use std::ops::Range;

use sframe_validator::Abi;
use sframe_validator::unwind::{CodeAddress, Register};

use super::effect::RegisterSet;
use super::fixpoint::{Analysis, Loss, Losses, Observer};
use super::judgement::{FramePart, KnownFacts};
use super::machine::{LONGEST_INSTRUCTION, Machine};
use super::state::{AbstractState, number};
use super::unproven::Unproven;
use super::view::WatchedRegisters;
use crate::witness::CodeRange;

/// A function, and the abstract state before each of its instructions.
pub struct Function<'e> {
    pub(super) abi: Abi,
    pub(super) range: CodeRange,
    /// The distance of addresses in analyses from those in the section.
    pub(super) base: u64,
    /// Those of the functions that the code belongs to: itself, or those that jump into it with their own frames.
    pub(super) analyses: Vec<Analysis<'e>>,
    /// The number of the last one, if it was analysed from its start.
    pub(super) last: Option<usize>,
    /// It was analysed as if it were entered by a call, not with the frames of jumps or after a signal handler.
    pub(super) is_taken_for_called: bool,
}

impl<'e> Function<'e> {
    /// The analyses of the functions that the code belongs to, and the number of the last one, if it was analysed from
    /// its start.
    pub(super) fn into_analyses(self) -> (Vec<Analysis<'e>>, Option<usize>) {
        (self.analyses, self.last)
    }

    /// The function's code.
    #[must_use]
    pub const fn range(&self) -> CodeRange {
        self.range
    }

    /// Whether the function was analysed as if it were entered by a call. If everything that describes it says that it is
    /// entered in another way, nothing is known about it.
    pub(crate) const fn is_taken_for_called(&self) -> bool {
        self.is_taken_for_called
    }

    /// Whether a place is in the function's code.
    #[must_use]
    pub const fn contains(&self, place: CodeAddress) -> bool {
        place.section == self.range.start.section
            && place.address >= self.range.start.address
            && place.address < self.range.end
    }

    /// The registers that functions of this machine keep for their callers, apart from SP, FP and RA.
    pub(crate) fn callee_saved(&self) -> &'static [Register] {
        Machine::of(self.abi).map_or(&[], |machine| machine.conventions().callee_saved)
    }

    /// Whether the function writes any of `registers`.
    pub(crate) fn writes(&self, registers: &[Register]) -> bool {
        let of = |register: &Register| RegisterSet::of(number(*register));
        let all = registers.iter().map(of).fold(RegisterSet::default(), RegisterSet::with);
        self.analyses.iter().any(|analysis| analysis.writes(all))
    }

    /// Whether the function restores a callee-saved register wherever it is known to be left. If not, it may use the register for
    /// anything, as code in languages with other conventions does.
    #[must_use]
    pub fn restores(&self, register: Register) -> bool {
        let this = RegisterSet::of(number(register));
        self.analyses.iter().all(|analysis| analysis.restored().meet(this))
    }

    /// Why code that starts at an address is not reached, although it is no padding, and the address of the instruction to blame in the
    /// analysis. `None` if there is no analysis.
    pub(super) fn why_not_reached(&self, address: u64) -> Option<Loss> {
        let address = address.wrapping_add(self.base);
        self.analyses.first().map(|analysis| analysis.why_not_reached(address))
    }

    /// Why a part of the frame is not known before an instruction that is reached, and the address of the instruction to blame in the
    /// analysis.
    pub(super) fn loss(&mut self, address: u64, part: FramePart, losses: &mut Losses) -> Loss {
        let address = address.wrapping_add(self.base);
        let mut analyses = self.analyses.iter_mut().enumerate();
        let loss = analyses.find_map(|(number, it)| it.loss(number, address, part, losses));
        // It is known in each function to which the code belongs.
        loss.unwrap_or((Unproven::PathsDisagree, None))
    }

    /// The gap around an address that is not reached: the code between the nearest instructions that are.
    pub(super) fn gap_around(&mut self, address: u64) -> CodeRange {
        let CodeRange { mut start, mut end } = self.range;
        self.visit(start.address..end, |from, to, _| {
            if to <= address {
                start.address = start.address.max(to);
            } else {
                end = end.min(from);
            }
        });
        CodeRange { start, end }
    }

    /// What the judgement about most rows depends on.
    pub(crate) fn viewed(&self) -> WatchedRegisters {
        WatchedRegisters::viewed(self.abi)
    }

    /// Passes the first address and the end of each instruction in `range` that is reached, with the facts before it, to
    /// `visit`, in the order of addresses.
    pub fn visit(&mut self, range: Range<u64>, visit: impl FnMut(u64, u64, KnownFacts<'_>)) {
        self.visit_runs(range, WatchedRegisters::ALL, |start| start.saturating_add(1), visit);
    }

    /// Passes runs of instructions to `visit`, before which the states agree in the `watched` registers and the stack.
    /// `until` returns an address before which the run that starts at an address has to end, as far as instructions do.
    pub(crate) fn visit_runs(
        &mut self,
        range: Range<u64>,
        watched: WatchedRegisters,
        mut until: impl FnMut(u64) -> u64,
        mut visit: impl FnMut(u64, u64, KnownFacts<'_>),
    ) {
        let abi = self.abi;
        let start = range.start.max(self.range.start.address);
        let base = self.base;
        let range = start.wrapping_add(base)..range.end.min(self.range.end).wrapping_add(base);
        let mut visit = |from: u64, to: u64, state: &AbstractState| {
            visit(from.wrapping_sub(base), to.wrapping_sub(base), KnownFacts { state, abi });
        };
        if let [analysis] = self.analyses.as_mut_slice() {
            let until = |from: u64| until(from.wrapping_sub(base)).wrapping_add(base);
            return analysis.visit(range, &mut Observer { watched: watched.0, until, visit });
        }
        // The join: what is known is true for all functions to which the code belongs.
        let mut states: BTreeMap<u64, (u64, AbstractState)> = BTreeMap::new();
        for analysis in &mut self.analyses {
            let until = |from: u64| from.saturating_add(1);
            let visit = |from: u64, to: u64, state: &AbstractState| {
                let (_, known) = states.entry(from).or_insert_with(|| (to, state.clone()));
                known.join(state);
            };
            let mut observer = Observer { watched: WatchedRegisters::ALL.0, until, visit };
            analysis.visit(range.clone(), &mut observer);
        }
        for (from, (to, state)) in &states {
            visit(*from, *to, state);
        }
    }

    /// For each of these addresses of instructions, which are ordered, the last instruction before it that changed the frame.
    /// `None` if a jump leads from there to the address, if it is more than 256 bytes away, or if the code belongs to
    /// several functions.
    pub(crate) fn changes_before(&mut self, addresses: &[u64]) -> Vec<Option<u64>> {
        let base = self.base;
        let [analysis] = self.analyses.as_mut_slice() else { return vec![None; addresses.len()] };
        let flat: Vec<u64> = addresses.iter().map(|address| address.wrapping_add(base)).collect();
        let changes = analysis.changes_before(&flat).into_iter();
        let is_own =
            |change: &u64| self.contains(CodeAddress { address: *change, ..self.range.start });
        changes.map(|change| Some(change?.wrapping_sub(base)).filter(is_own)).collect()
    }

    /// Passes the facts at an address to `look`. `None` if no known path leads there.
    pub fn at<T>(&mut self, address: u64, look: impl FnOnce(KnownFacts<'_>) -> T) -> Option<T> {
        let (mut look, mut found) = (Some(look), None);
        // The instruction that contains the address may start before it.
        let from = address.saturating_sub(u64::from(LONGEST_INSTRUCTION) - 1);
        self.visit(from..address.saturating_add(1), |start, end, facts| {
            if (start..end).contains(&address) {
                found = look.take().map(|look| look(facts));
            }
        });
        found
    }
}
