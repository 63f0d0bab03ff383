//! Debugging information of relocatable objects, with relocations applied.
//!
//! All sections of an object start at address 0. So that an address has one meaning, each section of code gets a place of
//! its own in one address space, as a linker would give it one.

use std::collections::BTreeMap;

use sframe_validator::Endian;
use sframe_validator::elf::{EM_AARCH64, EM_S390, EM_X86_64, Elf, ElfKind, RelocationTable};
use sframe_validator::unwind::CodeAddress;

/// The unused addresses between two sections, in bytes.
const GAP: u64 = 4096;

/// Where the sections of code are. Linked files have their addresses already.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// The address of each section of code in a relocatable object, by the section's index.
    starts: BTreeMap<u32, u64>,
}

impl Layout {
    /// A place for each section of code in a relocatable object.
    pub(super) fn of(elf: &Elf<'_>) -> Layout {
        let mut layout = Layout::default();
        if elf.kind() != ElfKind::Relocatable {
            return layout;
        }
        let mut next = GAP;
        for section in elf.code_sections() {
            layout.starts.insert(section.index, next);
            let end = next.checked_add(section.size).and_then(|end| end.checked_add(GAP));
            let Some(end) = end else { break };
            next = end;
        }
        layout
    }

    /// The address of a place. Sections without code start at 0: what refers to them are offsets.
    pub(super) fn address(&self, place: CodeAddress) -> u64 {
        let start = self.starts.get(&place.section).copied().unwrap_or(0);
        start.wrapping_add(place.address)
    }

    /// Applies the relocations of the section `index` to its bytes. Relocations of other kinds than addresses and offsets
    /// are left out; relocations outside of the bytes as well.
    pub(super) fn relocate(&self, elf: &Elf<'_>, index: u32, bytes: &mut [u8]) {
        let Ok(table) = RelocationTable::load(elf, index) else { return };
        for relocation in &table.relocations {
            let target = relocation.target().zip(width(elf.machine(), relocation.kind));
            let Some((target, width)) = target else { continue };
            let value = self.address(target);
            let field = usize::try_from(relocation.offset).ok().and_then(|start| {
                let end = start.checked_add(width)?;
                bytes.get_mut(start..end)
            });
            let Some(field) = field else { continue };
            match elf.endian() {
                Endian::Little => {
                    field.iter_mut().zip(value.to_le_bytes()).for_each(|(to, from)| *to = from);
                }
                Endian::Big => {
                    let value = value.to_be_bytes();
                    let lowest = value.iter().rev().take(width).rev();
                    field.iter_mut().zip(lowest).for_each(|(to, from)| *to = *from);
                }
            }
        }
    }
}

/// The number of bytes that a relocation to an address or offset changes: `R_X86_64_64`, `R_X86_64_32`,
/// `R_AARCH64_ABS64`, `R_AARCH64_ABS32`, `R_390_64` and `R_390_32`.
const fn width(machine: u16, kind: u32) -> Option<usize> {
    match (machine, kind) {
        (EM_X86_64, 1) | (EM_AARCH64, 257) | (EM_S390, 22) => Some(8),
        (EM_X86_64, 10) | (EM_AARCH64, 258) | (EM_S390, 4) => Some(4),
        _ => None,
    }
}
