//! The addresses that data contain.

use sframe_validator::elf::{Elf, ElfKind, ElfSection, SHT_RELA};

/// The size of an entry of `SHT_RELA`, in bytes.
const RELA: usize = 24;
/// The size of an address, in bytes.
pub(super) const WORD: u64 = 8;

/// An address in the data of a linked file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pointer {
    /// Where it is, or where the dynamic linker will put it.
    pub(super) place: u64,
    /// The address.
    pub(super) target: u64,
}

/// The addresses in a file's data, or in dynamic relocations, which are data too, that `is_wanted` accepts; in the order of their
/// places.
pub(super) fn addresses(elf: &Elf<'_>, is_wanted: impl Fn(u64) -> bool) -> Vec<Pointer> {
    let mut found = Vec::new();
    // Many headers that lead to the same bytes must not multiply the work.
    let mut room = elf.data().len();
    let has_data = |section: &&ElfSection<'_>| section.is_loaded() && !elf.is_code(section);
    for section in elf.sections().iter().filter(has_data) {
        let data = elf.section_data(section).unwrap_or_default();
        let Some(left) = room.checked_sub(data.len()) else { break };
        room = left;
        let pointer = |place, target| Pointer { place, target };
        if section.sh_type == SHT_RELA {
            // Each entry has the place of a word and, if the word is an address, that address.
            let entries = data.chunks_exact(RELA);
            found.extend(
                entries
                    .filter_map(|entry| Some(pointer(word(entry, 0)?, word(entry, 16)?)))
                    .filter(|it| is_wanted(it.target)),
            );
        } else if elf.kind() == ElfKind::Executable {
            let places = (section.address..).step_by(8);
            found.extend(
                data.chunks_exact(8)
                    .zip(places)
                    .filter_map(|(bytes, place)| Some(pointer(place, word(bytes, 0)?)))
                    .filter(|it| is_wanted(it.target)),
            );
        }
    }
    if elf.kind() == ElfKind::Shared {
        // Only words with a relocation are addresses.
        for place in elf.dynamic_relocations(0, u64::MAX).unwrap_or_default() {
            let target = elf.loaded_section_at(place).and_then(|section| {
                let data = elf.section_data(section).ok()?;
                word(data, usize::try_from(place.checked_sub(section.address)?).ok()?)
            });
            found.extend(
                target.map(|target| Pointer { place, target }).filter(|it| is_wanted(it.target)),
            );
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The 8 bytes at an offset.
fn word(data: &[u8], offset: usize) -> Option<u64> {
    Some(u64::from_le_bytes(data.get(offset..)?.first_chunk().copied()?))
}
