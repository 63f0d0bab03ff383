//! CFI that confirms what an SFrame row says.

use core::cell::{OnceCell, RefCell};

use sframe_validator::Version;
use sframe_validator::check::Confirm;
use sframe_validator::section::CodeAddress;
use sframe_validator::unwind::{Frame, Row};

use super::verdict::{Side, Verdict, judge};
use crate::cfi::{Cfi, Fde, RowContext};

/// Work that all answers together may do for each byte of the sections. Questions in the order of
/// functions evaluate each byte of instructions once.
const WORK_PER_BYTE: u64 = 4;

/// Confirms rows by call frame information, as [`compare`](super::compare) would find both sides to
/// say the same: the first of several sections that describes a PC counts.
///
/// All answers together take time linear in the bytes of the CFI, besides a binary search for each:
/// where questions come in an order that takes more, the rest are not confirmed.
pub struct CfiConfirms<'c> {
    sources: Vec<Source<'c>>,
    state: RefCell<State<'c>>,
}

/// One CFI section.
struct Source<'c> {
    cfi: &'c Cfi<'c>,
    /// Places of the functions that have bytes in the section's order by address.
    functions: OnceCell<Vec<usize>>,
}

/// What is known of the function that was asked about last.
struct State<'c> {
    function: Option<Fde<'c>>,
    /// All that can be read.
    rows: Vec<Row>,
    /// By source.
    contexts: Vec<RowContext>,
    /// Bytes of instructions and rows that may still be read.
    budget: u64,
}

/// The function that describes a place, and where its description ends.
type Found<'c> = (usize, Fde<'c>, u64);

impl<'c> Source<'c> {
    /// The function that has `place`: of several, the one that starts last. As an error, where
    /// there is none, the place up to which that holds.
    fn locate(&self, place: CodeAddress) -> Result<(Fde<'c>, u64), u64> {
        let cfi = self.cfi;
        let functions = self.functions.get_or_init(|| {
            let with_bytes = |number: &usize| cfi.nth_range(*number).is_some_and(|(_, n)| n > 0);
            (0..cfi.len()).filter(with_bytes).collect()
        });
        let start = |number: &usize| cfi.nth_range(*number).map(|(start, _)| start);
        let after = functions.partition_point(|number| start(number) <= Some(place));
        let next = functions.get(after).and_then(start);
        let next = next.filter(|next| next.section == place.section);
        let next = next.map_or(u64::MAX, |next| next.address);
        let last = after.checked_sub(1).and_then(|last| functions.get(last));
        let last = last.and_then(|number| cfi.nth_sorted(*number));
        match last.filter(|function| function.contains(place)) {
            Some(function) => {
                let end = function.start().address.saturating_add(function.size());
                Ok((function, end.min(next)))
            }
            None => Err(next),
        }
    }
}

impl<'c> CfiConfirms<'c> {
    /// Confirms by the sections of a file's CFI, those for unwinders first, as
    /// [`Cfi::load_all`] orders them.
    #[must_use]
    pub fn new(cfi: &'c [Cfi<'c>]) -> CfiConfirms<'c> {
        let bytes = |cfi: &Cfi<'_>| cfi.data().len() as u64;
        let all = cfi.iter().map(bytes).fold(0, u64::saturating_add);
        let state = State {
            function: None,
            rows: Vec::new(),
            contexts: cfi.iter().map(RowContext::new).collect(),
            budget: all.saturating_mul(WORK_PER_BYTE),
        };
        let source = |cfi| Source { cfi, functions: OnceCell::new() };
        CfiConfirms { sources: cfi.iter().map(source).collect(), state: RefCell::new(state) }
    }

    /// The first source's function that describes `place`, up to where it or the lack of an
    /// earlier source's holds.
    fn locate(&self, place: CodeAddress) -> Option<Found<'c>> {
        let mut until = u64::MAX;
        for (number, source) in self.sources.iter().enumerate() {
            match source.locate(place) {
                Ok((function, end)) => return Some((number, function, end.min(until))),
                Err(next) => until = until.min(next),
            }
        }
        None
    }
}

impl<'c> State<'c> {
    /// Whether there is time for that much work; then it is taken.
    fn spend(&mut self, work: u64) -> bool {
        let left = self.budget.checked_sub(work);
        self.budget = left.unwrap_or_default();
        left.is_some()
    }

    /// Reads the rows of a function, unless they are at hand; whether there was the time for it.
    fn read(&mut self, source: usize, function: Fde<'c>) -> bool {
        if self.function == Some(function) {
            return true;
        }
        if !self.spend(function.instruction_bytes().max(1)) {
            return false;
        }
        let Some(context) = self.contexts.get_mut(source) else { return false };
        self.function = Some(function);
        self.rows.clear();
        let mut rows = function.rows(context);
        while let Ok(Some(row)) = rows.next_row() {
            self.rows.push(*row);
        }
        true
    }

    /// Up to where the function at hand says at `address` what `frame` says.
    fn agrees(&self, address: u64, frame: &Frame) -> Option<u64> {
        let place = self.rows.partition_point(|row| row.end <= address);
        let row = self.rows.get(place).filter(|row| row.contains(address))?;
        let function = self.function?;
        // Marks of the whole function are no part of the question.
        let side = |frame| Side { frame, signal: false, key_b: false };
        let judgement = judge(side(frame), side(&row.frame), Version::V3, function.cfi().abi());
        (judgement.verdict == Verdict::Equal).then_some(row.end)
    }
}

impl Confirm for CfiConfirms<'_> {
    fn confirms(&self, start: CodeAddress, end: u64, frame: &Frame) -> bool {
        let Ok(mut state) = self.state.try_borrow_mut() else { return false };
        let mut place = start;
        while place.address < end {
            let Some((source, function, until)) = self.locate(place) else { return false };
            // A question about one row costs nothing but the search.
            let further = place == start || state.spend(1);
            if !further || !state.read(source, function) {
                return false;
            }
            let Some(agreed) = state.agrees(place.address, frame) else { return false };
            place.address = agreed.min(until);
        }
        true
    }
}
