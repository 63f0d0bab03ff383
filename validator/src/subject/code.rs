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
        let after = CodeAddress { address: end, ..start };
        let first = self.ranges.partition_point(|range| range.start <= start).saturating_sub(1);
        let overlapping = self.ranges.iter().skip(first).take_while(|range| range.start < after);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Overlapping, nested, adjacent, separate and empty ranges, unsorted, in two sections.
    const RANGES: [(u32, u64, u64); 9] = [
        (1, 5, 4),
        (0, 8, 4),
        (0, 2, 4),
        (0, 4, 3),
        (0, 3, 2),
        (0, 20, 0),
        (0, 12, 2),
        (1, 7, 4),
        (2, 0, 1),
    ];

    fn map() -> CodeMap {
        let range = |(section, address, size)| (CodeAddress { section, address }, size);
        CodeMap::of(RANGES.into_iter().map(range))
    }

    /// Looks at each range.
    fn is_code(section: u32, byte: u64) -> bool {
        RANGES
            .iter()
            .any(|(of, start, size)| *of == section && (*start..start + size).contains(&byte))
    }

    #[test]
    fn ranges_that_overlap_are_one() {
        let ranges: Vec<_> =
            map().ranges.iter().map(|r| (r.start.section, r.start.address, r.size)).collect();
        let expected = [(0, 2, 5), (0, 8, 4), (0, 12, 2), (1, 5, 6), (2, 0, 1)];
        assert_eq!(ranges, expected);
        assert_eq!(map().size(), 5 + 4 + 2 + 6 + 1);
        assert!(map().is_known() && !CodeMap::unknown().is_known());
    }

    #[test]
    fn a_byte_is_in_the_range_that_contains_it() {
        for (section, address) in (0..4).flat_map(|section| (0..24).map(move |at| (section, at))) {
            let map = map();
            let found = map.containing(CodeAddress { section, address });
            assert_eq!(found.is_some(), is_code(section, address), "{section} {address}");
            let contains = |range: &CodeRange| {
                range.start.section == section
                    && (range.start.address..range.start.address + range.size).contains(&address)
            };
            assert!(found.is_none_or(contains), "{section} {address}: {found:?}");
        }
    }

    #[test]
    fn bytes_are_counted_as_if_one_by_one() {
        for (section, start) in (0..4).flat_map(|section| (0..24).map(move |at| (section, at))) {
            for size in 0..24 {
                let count = (start..start + size).filter(|byte| is_code(section, *byte)).count();
                let place = CodeAddress { section, address: start };
                assert_eq!(map().bytes_in(place, size), count as u64, "{section} {start} {size}");
                assert_eq!(CodeMap::unknown().bytes_in(place, size), size);
            }
        }
    }

    #[test]
    fn a_range_ends_after_its_last_byte() {
        let ends: Vec<_> = (1..24).filter(|at| map().ends_at(CodeAddress::absolute(*at))).collect();
        // Ranges are asked about only where none contains the place.
        let outside: Vec<_> = ends.into_iter().filter(|at| !is_code(0, *at)).collect();
        assert_eq!(outside, [7, 14]);
    }

    #[test]
    fn a_range_contains_what_ends_with_it() {
        let range = CodeRange { start: CodeAddress { section: 3, address: 8 }, size: 4 };
        let contains =
            |section, address, size| range.contains(CodeAddress { section, address }, size);
        assert!(contains(3, 8, 4) && contains(3, 9, 3) && contains(3, 12, 0));
        assert!(!contains(3, 8, 5) && !contains(3, 9, 4) && !contains(3, 7, 1));
        assert!(!contains(3, 13, 0) && !contains(2, 8, 4) && !contains(3, 11, u64::MAX));
    }
}
