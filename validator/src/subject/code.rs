//! Ranges of machine code, sorted and without overlaps.

use alloc::vec::Vec;

use crate::unwind::CodeAddress;

/// A contiguous range of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CodeRange {
    pub(crate) start: CodeAddress,
    pub(crate) size: u64,
}

/// Ranges of code, sorted.
#[derive(Debug, Default)]
pub(crate) struct CodeMap {
    ranges: Vec<CodeRange>,
    known: bool,
}

impl CodeMap {
    /// A map for bytes without a file: the places of code are unknown.
    pub(crate) fn unknown() -> CodeMap {
        CodeMap::default()
    }

    /// The code at these places, given by start and size.
    pub(crate) fn of(places: impl Iterator<Item = (CodeAddress, u64)>) -> CodeMap {
        let mut ranges: Vec<_> = places.map(|(start, size)| CodeRange { start, size }).collect();
        ranges.retain(|range| range.size > 0);
        ranges.sort_by_key(|range| range.start);
        // Sections overlap only in broken files. Overlapping ranges are merged.
        ranges.dedup_by(|next, range| range.absorb(next));
        CodeMap { ranges, known: true }
    }

    /// Whether the places of code are known, because there is a file.
    pub(crate) fn is_known(&self) -> bool {
        self.known
    }

    /// The number of bytes of code.
    pub(crate) fn size(&self) -> u64 {
        self.ranges.iter().fold(0, |sum, range| sum.saturating_add(range.size))
    }

    /// The range that contains the byte at `place`.
    pub(crate) fn containing(&self, place: CodeAddress) -> Option<&CodeRange> {
        let after = self.ranges.partition_point(|range| range.start <= place);
        let range = self.ranges.get(after.checked_sub(1)?)?;
        range.contains(place, 1).then_some(range)
    }

    /// Whether a range ends at `place` in a linked file.
    pub(crate) fn ends_at(&self, place: CodeAddress) -> bool {
        let before = CodeAddress::absolute(place.address.saturating_sub(1));
        self.containing(before).is_some()
    }

    /// The number of bytes of code in `[start, start + size)`, or `size` if the places of code are unknown.
    pub(crate) fn bytes_in(&self, start: CodeAddress, size: u64) -> u64 {
        if !self.known {
            return size;
        }
        let end = start.address.saturating_add(size);
        let first = self.ranges.partition_point(|range| range.start <= start).saturating_sub(1);
        let overlapping = self.ranges.iter().skip(first).take_while(|range| {
            range.start.section < start.section
                || range.start.section == start.section && range.start.address < end
        });
        overlapping
            .filter(|range| range.start.section == start.section)
            .map(|range| {
                let range_end = range.start.address.saturating_add(range.size);
                let from = range.start.address.max(start.address);
                range_end.min(end).saturating_sub(from)
            })
            .fold(0, u64::saturating_add)
    }
}

impl CodeRange {
    /// Extends this range by `next`, which starts no earlier, if the two overlap.
    fn absorb(&mut self, next: &CodeRange) -> bool {
        let distance = next.start.address.wrapping_sub(self.start.address);
        let overlaps = self.start.section == next.start.section && distance < self.size;
        if overlaps {
            self.size = self.size.max(distance.saturating_add(next.size));
        }
        overlaps
    }

    /// Whether all of `[place, place + size)` is in the range.
    pub(crate) fn contains(&self, place: CodeAddress, size: u64) -> bool {
        let before = place.address.checked_sub(self.start.address);
        let left = before.and_then(|before| self.size.checked_sub(before));
        place.section == self.start.section && left.is_some_and(|left| size <= left)
    }
}
