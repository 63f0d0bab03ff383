//! The mutations as libFuzzer's custom mutator for bytes, bare sections and the sections of ELF files.

use sframe_validator::elf::Elf;

use crate::{Seeded, attempt, defects, variations};
use sframe_validator::write::StoredSection;

/// Mutates the section or file in the first `size` bytes of `data`, of which `most` may be used, and returns the new
/// size. Returns `None` to leave the mutation to a mutator without knowledge of the structure. This happens in half of
/// the cases, and if no section can be taken apart.
pub fn in_place(data: &mut [u8], size: usize, most: usize, seed: u32) -> Option<usize> {
    let mut random = Seeded::new(seed.into());
    if random.below(2) == 0 {
        return None;
    }
    let input = data.get(..size)?;
    let Some((start, end)) = section_of(input) else {
        let bytes = mutated(input, &mut random)?;
        data.get_mut(..bytes.len().min(most))?.copy_from_slice(bytes.get(..most).unwrap_or(&bytes));
        return Some(bytes.len().min(most));
    };
    // In a file, nothing can move. A longer section is truncated, and a shorter one is followed by zeros.
    let mut bytes = mutated(input.get(start..end)?, &mut random)?;
    bytes.resize(end - start, 0);
    data.get_mut(start..end)?.copy_from_slice(&bytes);
    Some(size)
}

fn mutated(section: &[u8], random: &mut Seeded) -> Option<Vec<u8>> {
    let mut parts = StoredSection::read(section, 0)?;
    let all: Vec<_> = defects().map(|d| d.apply).chain(variations().map(|v| v.apply)).collect();
    // Most mutations are possible in most sections.
    (0..8).find(|_| attempt(all[random.below(all.len())], &mut parts, random))?;
    Some(parts.bytes())
}

/// The place of an ELF file's first SFrame section.
fn section_of(data: &[u8]) -> Option<(usize, usize)> {
    let elf = Elf::parse(data).ok()?;
    let section = elf.sframe_sections().next()?;
    let start = usize::try_from(section.offset).ok()?;
    let end = start.checked_add(elf.section_data(section).ok()?.len())?;
    (end <= data.len()).then_some((start, end))
}
