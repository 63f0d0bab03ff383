//! The relocated numbers in data that code refers to, such as jump tables.

use sframe_validator::elf::Elf;
use sframe_validator::unwind::CodeAddress;

use super::load;
use crate::cfi::{Formula, Relocations};
use crate::code::jump_table::number_of;

/// The relocations of sections with data, by the sections' indexes.
#[derive(Debug, Default)]
pub(in crate::code) struct DataRelocations(Vec<(u32, Relocations)>);

impl DataRelocations {
    /// The relocations of the sections that contain `places` but no code; see [`load`].
    pub(super) fn of(
        elf: &Elf<'_>,
        places: impl Iterator<Item = CodeAddress>,
        room: &mut usize,
    ) -> Option<DataRelocations> {
        let mut sections: Vec<u32> = places.map(|place| place.section).collect();
        sections.sort_unstable();
        sections.dedup();
        sections.retain(|index| elf.section(*index).is_some_and(|section| !elf.is_code(section)));
        let tables = sections.into_iter().map(|section| {
            let mut entries = load(elf, section, room)?;
            entries.sort_by_key(|relocation| relocation.offset);
            Some((section, Relocations { entries, machine: elf.machine() }))
        });
        tables.collect::<Option<_>>().map(DataRelocations)
    }

    /// The number in bytes at a place, or the one that the linker will put there; `None` if that is not known. `flat`
    /// gives the address of a place.
    pub(in crate::code) fn number(
        &self,
        place: CodeAddress,
        bytes: &[u8],
        flat: impl Fn(CodeAddress) -> u64,
    ) -> Option<u64> {
        let index = self.0.binary_search_by_key(&place.section, |(section, _)| *section);
        let relocations = index.ok().and_then(|index| self.0.get(index)).map(|(_, it)| it);
        let Some(relocations) = relocations.filter(|it| it.at(place.address).is_some()) else {
            return number_of(bytes);
        };
        let (target, formula) = relocations.field(place.address, bytes.len())?;
        Some(match formula {
            Formula::Absolute => flat(target),
            // The difference is that of the addresses, although the target alone may be outside of its section.
            Formula::PcRelative => flat(target).wrapping_sub(flat(place)),
        })
    }
}
