//! Where the machine code of a file is: its loaded, executable sections, by address.

use alloc::vec::Vec;

use crate::elf::{Elf, ElfKind, PF_X, PT_LOAD};
use crate::section::CodeAddress;

/// A contiguous range of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CodeRange {
    pub(crate) start: CodeAddress,
    pub(crate) size: u64,
}

/// The code of a file, ordered by place.
#[derive(Debug, Default)]
pub(crate) struct CodeMap {
    ranges: Vec<CodeRange>,
    known: bool,
}

impl CodeMap {
    /// No file: nothing is known about code.
    pub(crate) fn unknown() -> CodeMap {
        CodeMap::default()
    }

    /// The executable sections; the executable segments of a file without a section table.
    pub(crate) fn of(elf: &Elf<'_>) -> CodeMap {
        let relocatable = elf.kind() == ElfKind::Relocatable;
        let mut ranges: Vec<_> = elf
            .code_sections()
            .map(|section| CodeRange {
                start: match relocatable {
                    true => CodeAddress { section: section.index, address: 0 },
                    false => CodeAddress::absolute(section.address),
                },
                size: section.size,
            })
            .collect();
        if elf.sections().is_empty() {
            let executable = elf.segments().iter();
            let executable = executable.filter(|s| s.p_type == PT_LOAD && s.flags & PF_X != 0);
            ranges.extend(executable.map(|segment| CodeRange {
                start: CodeAddress::absolute(segment.address),
                size: segment.memory_size,
            }));
        }
        ranges.retain(|range| range.size > 0);
        ranges.sort_by_key(|range| range.start);
        // Sections overlap in broken files only; there, code is code.
        ranges.dedup_by(|next, range| range.absorb(next));
        CodeMap { ranges, known: true }
    }

    /// Whether there is a file that says where code is.
    pub(crate) fn is_known(&self) -> bool {
        self.known
    }

    /// Bytes of code.
    pub(crate) fn size(&self) -> u64 {
        self.ranges.iter().fold(0, |sum, range| sum.saturating_add(range.size))
    }

    /// The range that holds the byte at `place`.
    pub(crate) fn containing(&self, place: CodeAddress) -> Option<&CodeRange> {
        let after = self.ranges.partition_point(|range| range.start <= place);
        let range = self.ranges.get(after.checked_sub(1)?)?;
        range.contains(place, 1).then_some(range)
    }

    /// Bytes of code in `[start, start + size)`; all of them where nothing is known about code.
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
            .sum()
    }
}

impl CodeRange {
    /// Takes `next`, which starts no earlier, into this range if the two overlap.
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
