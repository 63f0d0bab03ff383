//! The relocated numbers in data that code refers to, such as jump tables.

use sframe_validator::elf::{Elf, RelocationTable};
use sframe_validator::unwind::CodeAddress;

use crate::cfi::{Formula, Relocations};

/// The size of a relocation in the file, in bytes: a lower limit, so that many headers that lead to the same bytes do not
/// multiply the work.
const ENTRY: usize = 24;

/// The relocations of sections with data, by the sections' indexes.
#[derive(Debug, Default)]
pub(in crate::code) struct Data(Vec<(u32, Relocations)>);

impl Data {
    /// The relocations of the sections that contain `places` but no code.
    pub(super) fn of(elf: &Elf<'_>, places: impl Iterator<Item = CodeAddress>) -> Data {
        let mut sections: Vec<u32> = places.map(|place| place.section).collect();
        sections.sort_unstable();
        sections.dedup();
        sections.retain(|index| elf.section(*index).is_some_and(|section| !elf.is_code(section)));
        let mut room = elf.data().len() / ENTRY;
        let mut found = Vec::new();
        for section in sections {
            let table = RelocationTable::load(elf, section).unwrap_or_default();
            let mut entries = table.relocations;
            let Some(left) = room.checked_sub(entries.len()) else { break };
            room = left;
            entries.sort_by_key(|relocation| relocation.offset);
            found.push((section, Relocations { entries, machine: elf.machine() }));
        }
        Data(found)
    }

    /// The number in the `width` bytes at a place, if it is relocated. `flat` gives the address of a place.
    pub(in crate::code) fn number(
        &self,
        place: CodeAddress,
        width: usize,
        flat: impl Fn(CodeAddress) -> Option<u64>,
    ) -> Option<u64> {
        let index = self.0.binary_search_by_key(&place.section, |(section, _)| *section).ok()?;
        let (target, formula) = self.0.get(index)?.1.field(place.address, width)?;
        let address = flat(target)?;
        Some(match formula {
            Formula::Absolute => address,
            Formula::PcRelative => address.wrapping_sub(flat(place)?),
        })
    }
}
