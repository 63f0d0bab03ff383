//! The places that may contain code once a file is loaded.

use sframe_validator::elf::Elf;
use sframe_validator::unwind::CodeAddress;

/// The executable sections of a file, with or without bytes in it.
pub(crate) struct Executable {
    /// Starts and ends, by start; an end is the largest so far in its section.
    ranges: Vec<(CodeAddress, u64)>,
}

impl Executable {
    pub(crate) fn of(elf: &Elf<'_>) -> Executable {
        let end = |(start, size): (CodeAddress, u64)| (start, start.address.saturating_add(size));
        let mut ranges: Vec<(CodeAddress, u64)> = elf.executable().map(end).collect();
        ranges.sort_unstable();
        let mut last: Option<(u32, u64)> = None;
        for (start, end) in &mut ranges {
            let before = last.filter(|(section, _)| *section == start.section);
            *end = before.map_or(*end, |(_, before)| before.max(*end));
            last = Some((start.section, *end));
        }
        Executable { ranges }
    }

    /// Whether there may be code at a place.
    pub(crate) fn contains(&self, place: CodeAddress) -> bool {
        let after = self.ranges.partition_point(|(start, _)| *start <= place);
        let last = after.checked_sub(1).and_then(|last| self.ranges.get(last));
        last.is_some_and(|(start, end)| start.section == place.section && place.address < *end)
    }
}
