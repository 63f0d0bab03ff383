//! Looks up CFI rows at single PCs, in any order.

use core::cell::OnceCell;

use sframe_validator::unwind::{CodeAddress, Row};

use crate::cfi::{Cfi, Fde, RowContext};

/// The work that all lookups together may do for each byte of the sections. Lookups in the order of functions evaluate
/// each byte of instructions once.
const WORK_PER_BYTE: u64 = 4;

/// Looks up CFI rows by place; the first of several sections that describes a place is used. The rows of the last
/// function are cached.
///
/// All lookups together take time linear in the bytes of the CFI, plus a binary search for each. If their order
/// requires more work, the remaining lookups report unreadable CFI.
pub(crate) struct Lookup<'c> {
    sources: Vec<Source<'c>>,
    /// The function of the last lookup.
    function: Option<Fde<'c>>,
    /// All readable rows of that function.
    rows: Vec<Row>,
    /// The context of each source.
    contexts: Vec<RowContext>,
    /// Bytes of instructions and rows that may still be read.
    budget: u64,
}

/// The result of a lookup.
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
    /// The function that contains `place`, and the address up to which that holds; if there are several, the one that
    /// starts last. If there is none, returns as an error the address up to which there is none.
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
    /// A lookup in sections that are in the order of [`Cfi::load_all`].
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

    /// The row at `place`, and the address after it up to which the result is the same.
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

    /// Takes `work` from the budget. Returns whether that much was left.
    pub(crate) fn spend(&mut self, work: u64) -> bool {
        let left = self.budget.checked_sub(work);
        self.budget = left.unwrap_or_default();
        left.is_some()
    }

    /// Reads the rows of a function, unless they are cached. Returns whether the budget was sufficient.
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

    /// The row of the cached function at `place`.
    fn row(&self, function: Fde<'c>, place: CodeAddress, until: u64) -> (Found<'_, 'c>, u64) {
        let number = self.rows.partition_point(|row| row.end <= place.address);
        match self.rows.get(number).filter(|row| row.contains(place.address)) {
            Some(row) => (Found::Row(row, function), until.min(row.end)),
            None => (Found::Unreadable, until),
        }
    }
}
