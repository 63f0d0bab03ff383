//! Where the code of a file is.

use sframe_validator::elf::Elf;
use sframe_validator::section::CodeAddress;

/// The machine code of a file. Ordered, without overlaps.
pub(crate) fn code_of(elf: &Elf<'_>) -> Vec<(CodeAddress, u64)> {
    let code = elf.code().map(|(start, size)| (start, start.address.saturating_add(size)));
    let mut ranges: Vec<(CodeAddress, u64)> = code.collect();
    ranges.retain(|(start, end)| start.address < *end);
    ranges.sort();
    ranges.dedup_by(|next, last| {
        let joined = next.0.section == last.0.section && next.0.address <= last.1;
        if joined {
            last.1 = last.1.max(next.1);
        }
        joined
    });
    ranges
}
