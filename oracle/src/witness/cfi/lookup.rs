//! What CFI says at one PC, in any order of questions.

use core::cell::OnceCell;

use sframe_validator::section::CodeAddress;
use sframe_validator::unwind::Row;

use crate::cfi::{Cfi, Fde, RowContext};

/// Work that all answers together may do for each byte of the sections. Questions in the order of
/// functions evaluate each byte of instructions once.
const WORK_PER_BYTE: u64 = 4;

/// Finds rows of CFI by their place: the first of several sections that describes it counts. The
/// rows of the last function are kept.
///
/// All answers together take time linear in the bytes of the CFI, besides a binary search for each.
/// Where the order of questions takes more, the answers to the rest are that CFI cannot be read.
pub(crate) struct Lookup<'c> {
    sources: Vec<Source<'c>>,
    /// The function that was asked about last.
    function: Option<Fde<'c>>,
    /// All of its rows that can be read.
    rows: Vec<Row>,
    /// By source.
    contexts: Vec<RowContext>,
    /// Bytes of instructions and rows that may still be read.
    budget: u64,
}

/// What there is at a place.
pub(crate) enum Found<'l, 'c> {
    /// No function.
    Nothing,
    /// A function without a readable row there.
    Unreadable,
    /// A row of a function.
    Row(&'l Row, Fde<'c>),
}

/// One CFI section.
struct Source<'c> {
    cfi: &'c Cfi<'c>,
    /// The functions that have bytes, by their number in the order of addresses.
    functions: OnceCell<Vec<usize>>,
}

impl<'c> Source<'c> {
    /// The function that has `place`, of several the one that starts last, and the address up to which
    /// that holds; as an error, where there is none, the address up to which that holds.
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

impl<'c> Lookup<'c> {
    /// For sections in the order of [`Cfi::load_all`].
    pub(crate) fn new(cfi: &'c [Cfi<'c>]) -> Lookup<'c> {
        let bytes = |cfi: &Cfi<'_>| cfi.data().len() as u64;
        let all = cfi.iter().map(bytes).fold(0, u64::saturating_add);
        let source = |cfi| Source { cfi, functions: OnceCell::new() };
        Lookup {
            sources: cfi.iter().map(source).collect(),
            function: None,
            rows: Vec::new(),
            contexts: cfi.iter().map(RowContext::new).collect(),
            budget: all.saturating_mul(WORK_PER_BYTE),
        }
    }

    /// What there is at `place`, and the address after it up to which that holds.
    pub(crate) fn at(&mut self, place: CodeAddress) -> (Found<'_, 'c>, u64) {
        let mut until = u64::MAX;
        for number in 0..self.sources.len() {
            let Some(source) = self.sources.get(number) else { break };
            match source.locate(place) {
                Ok((function, end)) => {
                    until = until.min(end);
                    return if self.read(number, function) {
                        self.row(function, place, until)
                    } else {
                        (Found::Unreadable, until)
                    };
                }
                Err(next) => until = until.min(next),
            }
        }
        (Found::Nothing, until)
    }

    /// Whether there is time for that much work; then it is taken.
    pub(crate) fn spend(&mut self, work: u64) -> bool {
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

    /// The row of the function at hand.
    fn row(&self, function: Fde<'c>, place: CodeAddress, until: u64) -> (Found<'_, 'c>, u64) {
        let number = self.rows.partition_point(|row| row.end <= place.address);
        match self.rows.get(number).filter(|row| row.contains(place.address)) {
            Some(row) => (Found::Row(row, function), until.min(row.end)),
            None => (Found::Unreadable, until),
        }
    }
}
