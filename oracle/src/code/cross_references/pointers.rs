//! Functions whose addresses are in data.

use sframe_validator::elf::{ElfKind, ElfSection};
use sframe_validator::unwind::CodeAddress;

use super::super::image::Image;

const SHT_RELA: u32 = 4;
/// The size of an entry of `SHT_RELA`, in bytes.
const RELA: usize = 24;

/// The starts of the functions whose addresses are in data, or in relocations, which are data too; ordered.
pub(super) fn pointers(image: &Image<'_>) -> Vec<u64> {
    let mut found = Pointers(Vec::new());
    found.find(image);
    found.0.sort();
    found.0.dedup();
    found.0
}

struct Pointers(Vec<u64>);

impl Pointers {
    fn find(&mut self, image: &Image<'_>) {
        let (elf, functions) = (image.elf(), image.functions());
        let (Some(first), Some(last)) = (functions.first(), functions.last()) else { return };
        let is_code = |word: u64| (first.start.address..=last.start.address).contains(&word);
        let has_data = |section: &&ElfSection<'_>| section.is_loaded() && !elf.is_code(section);
        for section in elf.sections().iter().filter(has_data) {
            let data = elf.section_data(section).unwrap_or_default();
            if section.sh_type == SHT_RELA {
                // Each entry has the place of a word and, if the word is an address, that address.
                let entries = data
                    .chunks_exact(RELA)
                    .filter_map(|entry| Some((word(entry, 0)?, word(entry, 16)?)));
                self.add(image, entries.filter(|(_, word)| is_code(*word)));
            } else if elf.kind() == ElfKind::Executable {
                let words =
                    (0..data.len()).step_by(8).filter_map(|at| Some((at as u64, word(data, at)?)));
                self.add(image, words.filter(|(_, word)| is_code(*word)));
            }
        }
        if elf.kind() == ElfKind::Shared {
            // Only words with a relocation are addresses.
            let places = elf.dynamic_relocations(0, u64::MAX).unwrap_or_default();
            let words = places
                .into_iter()
                .filter_map(|place| Some((place, word(image.bytes_from(place)?, 0)?)));
            self.add(image, words.filter(|(_, word)| is_code(*word)));
        }
    }

    /// Adds the functions to which words point; `words` are pairs of a place and a word. Where adjacent words point to
    /// the middle of functions as well, they are a jump table, which may lead to fragments of functions. Words that point
    /// to code of no known function do not count: `.init_array` has such pointers, and is next to other data.
    fn add(&mut self, image: &Image<'_>, words: impl Iterator<Item = (u64, u64)>) {
        let (mut first, mut is_table, mut end) = (self.0.len(), false, u64::MAX);
        for (place, word) in words {
            if place != end {
                (first, is_table) = (self.0.len(), false);
            }
            end = place.saturating_add(8);
            let target = CodeAddress::absolute(word);
            if image.find(target).is_none() {
                continue;
            }
            if !image.starts_at(target) {
                is_table = true;
                self.0.truncate(first);
            } else if !is_table {
                self.0.push(word);
            }
        }
    }
}

/// The 8 bytes at an offset.
fn word(data: &[u8], offset: usize) -> Option<u64> {
    Some(u64::from_le_bytes(data.get(offset..)?.first_chunk().copied()?))
}
