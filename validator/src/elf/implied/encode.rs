//! Section headers as bytes, for readers of the table.

use alloc::vec::Vec;

use super::super::ElfSection;
use super::Format;
use crate::abi::Endian;

/// The table of section headers that a file with these sections would have, without names.
pub(in super::super) fn encode(sections: &[ElfSection<'_>], format: Format) -> Vec<u8> {
    let mut out = Vec::new();
    for section in sections {
        put(&mut out, format, 0, 4);
        put(&mut out, format, section.sh_type.into(), 4);
        for value in [section.flags, section.address, section.offset, section.size] {
            put(&mut out, format, value, format.numbers.word());
        }
        put(&mut out, format, section.link.into(), 4);
        put(&mut out, format, section.info.into(), 4);
        for value in [section.alignment, section.entry_size] {
            put(&mut out, format, value, format.numbers.word());
        }
    }
    out
}

/// Appends a number of `size` bytes.
fn put(out: &mut Vec<u8>, format: Format, value: u64, size: usize) {
    let (little, big) = (value.to_le_bytes(), value.to_be_bytes());
    match format.numbers.endian {
        Endian::Little => out.extend(little.iter().take(size)),
        Endian::Big => out.extend(big.iter().skip(big.len().saturating_sub(size))),
    }
}
