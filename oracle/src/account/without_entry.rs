//! The functions that nothing describes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use sframe_validator::elf::{CodeNames, Elf, ElfKind, NamedCode};
use sframe_validator::unwind::CodeAddress;

use super::WithoutEntry;
use crate::code::padding_at_end;
use crate::compare::Range;
use crate::witness::CodeRange;

/// Looks for functions in code that nothing describes.
pub(super) struct Search<'s> {
    elf: &'s Elf<'s>,
    /// All code with a name, ordered by start.
    named: Vec<NamedCode>,
    /// The number of functions to keep.
    most: usize,
    found: WithoutEntry,
    /// The largest functions so far, the smallest of them at the top.
    largest: BinaryHeap<Reverse<Ranked>>,
}

/// A function: its size, its start in reverse order, and its end.
type Ranked = (u64, Reverse<CodeAddress>, u64);

impl<'s> Search<'s> {
    /// A search that keeps the largest functions; `None` if it is to keep none.
    pub(super) fn of(elf: &'s Elf<'s>, most: usize) -> Option<Search<'s>> {
        let named = || CodeNames::load(elf).map(|names| names.named_code()).unwrap_or_default();
        (most > 0).then(|| Search {
            elf,
            named: named(),
            most,
            found: WithoutEntry::default(),
            largest: BinaryHeap::new(),
        })
    }

    /// Adds the functions in a range of code that no row describes. Code of an entry without rows does not count.
    pub(super) fn range(&mut self, range: &Range<'_>) {
        if range.sframe.is_some() || range.cfi.is_some() {
            return;
        }
        let place = |address| CodeAddress { section: range.section, address };
        let start = place(range.start);
        let first = self.named.partition_point(|code| code.start < start);
        let mut counted = range.start;
        let mut at = first;
        while let Some(code) = self.named.get(at).filter(|code| code.start < place(range.end)) {
            at = at.saturating_add(1);
            let Some(end) = self.end_of(code, range.end) else { continue };
            let size = end.saturating_sub(code.start.address);
            self.found.functions = self.found.functions.saturating_add(1);
            let new = end.saturating_sub(code.start.address.max(counted));
            self.found.bytes = self.found.bytes.saturating_add(new);
            counted = counted.max(end);
            self.largest.push(Reverse((size, Reverse(code.start), end)));
            if self.largest.len() > self.most {
                self.largest.pop();
            }
        }
    }

    /// The end of a function; `None` if it has no code before `limit`, where something is described or the code ends, or
    /// if it has more after it.
    fn end_of(&self, code: &NamedCode, limit: u64) -> Option<u64> {
        let size = |end: u64| end.saturating_sub(code.start.address);
        if code.is_sized {
            let section = self.elf.code_section_at(code.start)?;
            let base = if self.elf.kind() == ElfKind::Relocatable { 0 } else { section.address };
            // A size that is too large does not hide the function.
            let end = code.end.min(base.saturating_add(section.size));
            return (end <= limit && size(end) > 0).then_some(end);
        }
        let end = code.end.min(limit);
        let padding = padding_at_end(self.elf, code.start, size(end));
        let end = end.saturating_sub(padding);
        (size(end) > 0).then_some(end)
    }

    /// What was found.
    pub(super) fn finish(self) -> WithoutEntry {
        let largest = self.largest.into_sorted_vec().into_iter();
        let place = |Reverse((_, Reverse(start), end)): Reverse<Ranked>| CodeRange { start, end };
        WithoutEntry { largest: largest.map(place).collect(), ..self.found }
    }
}
