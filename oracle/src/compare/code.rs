//! Finds the code of a file.

use sframe_validator::elf::Elf;

use crate::witness::CodeRange;

/// The machine code of a file: ordered, without overlaps.
pub(crate) fn code_of(elf: &Elf<'_>) -> Vec<CodeRange> {
    let code = elf.code().map(|(start, size)| {
        let end = start.address.saturating_add(size);
        CodeRange { start, end }
    });
    let mut ranges: Vec<_> = code.collect();
    ranges.sort();
    ranges.dedup_by(|next, last| {
        let joined = next.start.section == last.start.section && next.start.address <= last.end;
        if joined {
            last.end = last.end.max(next.end);
        }
        joined
    });
    ranges
}
