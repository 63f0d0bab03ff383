//! Where the code of a file is.

use sframe_validator::elf::{Elf, ElfKind, PF_X, PT_LOAD};
use sframe_validator::section::CodeAddress;

/// The executable bytes of a file: loaded sections with code, or without section headers the
/// segments. Ordered, without overlaps.
pub(crate) fn code_of(elf: &Elf<'_>) -> Vec<(CodeAddress, u64)> {
    let relocatable = elf.kind() == ElfKind::Relocatable;
    let mut ranges: Vec<(CodeAddress, u64)> = elf
        .code_sections()
        .map(|section| {
            let number = if relocatable { section.index } else { 0 };
            let address = if relocatable { 0 } else { section.address };
            (CodeAddress { section: number, address }, address.saturating_add(section.size))
        })
        .collect();
    if elf.sections().is_empty() {
        let loaded = elf.segments().iter().filter(|s| s.p_type == PT_LOAD && s.flags & PF_X != 0);
        ranges.extend(loaded.map(|segment| {
            let end = segment.address.saturating_add(segment.memory_size);
            (CodeAddress::absolute(segment.address), end)
        }));
    }
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
