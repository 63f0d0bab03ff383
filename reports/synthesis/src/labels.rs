//! Symbols among the instructions of a function's CFI. `.cfi_label` leaves nothing else in an object.

use sframe_oracle::cfi::Fde;
use sframe_validator::Endian;
use sframe_validator::elf::{Class, Elf, ElfKind, SHT_SYMTAB};

use crate::pattern::instruction_bytes;

/// The size of a symbol table entry in a file of the 64-bit class.
const ENTRY: usize = 24;

/// The symbols in the CFI sections of a relocatable object. A linker moves CFI, and not always its symbols.
#[derive(Clone, Debug, Default)]
pub(crate) struct Labels {
    /// The section's index, and the offset in it, in ascending order.
    places: Vec<(u32, u64)>,
}

impl Labels {
    /// The symbols in these sections.
    pub(crate) fn of(elf: &Elf<'_>, sections: &[u32]) -> Labels {
        if elf.kind() != ElfKind::Relocatable || elf.class() != Class::Elf64 {
            return Labels::default();
        }
        let tables = elf.sections().iter().filter(|section| section.sh_type == SHT_SYMTAB);
        let entries = tables.filter_map(|table| Some(elf.section_data(table).ok()?.as_chunks().0));
        let places = entries.flatten().filter_map(|entry| place(entry, elf.endian()));
        let mut places: Vec<_> = places.filter(|(section, _)| sections.contains(section)).collect();
        places.sort_unstable();
        Labels { places }
    }

    /// Whether one is among a function's instructions.
    pub(crate) fn are_in(&self, fde: &Fde<'_>) -> bool {
        if self.places.is_empty() {
            return false;
        }
        let section = fde.cfi().section();
        let Some(bytes) = instruction_bytes(fde) else { return false };
        let offset = fde.instructions().offset();
        let start = (section, offset);
        let end = (section, offset.saturating_add(bytes.len() as u64));
        let first = self.places.partition_point(|place| *place < start);
        self.places.get(first).is_some_and(|place| *place < end)
    }
}

/// `st_shndx` and `st_value`.
fn place(entry: &[u8; ENTRY], endian: Endian) -> Option<(u32, u64)> {
    let section = entry.get(6..8)?.try_into().ok()?;
    let value = entry.get(8..16)?.try_into().ok()?;
    Some(match endian {
        Endian::Little => (u16::from_le_bytes(section).into(), u64::from_le_bytes(value)),
        Endian::Big => (u16::from_be_bytes(section).into(), u64::from_be_bytes(value)),
    })
}
