//! The relocated numbers in data that code refers to, such as jump tables.

use sframe_validator::elf::Elf;
use sframe_validator::unwind::CodeAddress;

use super::load;
use crate::cfi::{Formula, Relocations};

/// The relocations of sections with data, by the sections' indexes.
#[derive(Debug, Default)]
pub(in crate::code) struct Data(Vec<(u32, Relocations)>);

impl Data {
    /// The relocations of the sections that contain `places` but no code; see [`load`].
    pub(super) fn of(
        elf: &Elf<'_>,
        places: impl Iterator<Item = CodeAddress>,
        room: &mut usize,
    ) -> Option<Data> {
        let mut sections: Vec<u32> = places.map(|place| place.section).collect();
        sections.sort_unstable();
        sections.dedup();
        sections.retain(|index| elf.section(*index).is_some_and(|section| !elf.is_code(section)));
        let tables = sections.into_iter().map(|section| {
            let mut entries = load(elf, section, room)?;
            entries.sort_by_key(|relocation| relocation.offset);
            Some((section, Relocations { entries, machine: elf.machine() }))
        });
        tables.collect::<Option<_>>().map(Data)
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
