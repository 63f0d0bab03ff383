//! Detects sections that were appended. Linkers that do not know SFrame append the sections of their inputs instead of
//! merging them.

use crate::abi::Endian;
use crate::section::{MAGIC, Section, Version};

/// Whether a complete preamble of a known version is at `offset`.
fn preamble_at(section: &Section<'_>, offset: u64) -> bool {
    let bytes = usize::try_from(offset).ok().and_then(|offset| section.data().get(offset..));
    let Some([a, b, version, _, ..]) = bytes else { return false };
    let magic = match section.endian() {
        Endian::Little => u16::from_le_bytes([*a, *b]),
        Endian::Big => u16::from_be_bytes([*a, *b]),
    };
    magic == MAGIC && Version::from_number(*version).is_some()
}

/// The section offset at which a second section follows this one's content, either directly or at the next multiple of
/// 8.
pub(super) fn concatenated_at(section: &Section<'_>) -> Option<u64> {
    let end = section.header().fre_end();
    let aligned = end.next_multiple_of(8);
    [end, aligned].into_iter().find(|&offset| preamble_at(section, offset))
}
