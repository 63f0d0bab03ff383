//! Section headers added to a file.

use sframe_validator::elf::Elf;

use super::fields::{FileHeader, SectionHeader};
use super::{CannotInsert, extend};

/// `SHT_NULL`.
const SHT_NULL: u32 = 0;
/// `SHT_RELA` and `SHT_REL`.
const RELOCATIONS: [u32; 2] = [4, 9];

/// The section headers of a file.
pub(super) fn table(
    elf: &Elf<'_>,
    header: &FileHeader,
) -> Result<Vec<SectionHeader>, CannotInsert> {
    header.section_headers(elf).ok_or(CannotInsert::Headers)
}

/// Replaces the header of a section, which keeps its name. Relocations of its old content are dropped.
pub(super) fn replace(
    table: &mut [SectionHeader],
    index: u32,
    section: SectionHeader,
) -> Result<(), CannotInsert> {
    for relocations in table.iter_mut() {
        if RELOCATIONS.contains(&relocations.sh_type) && relocations.info == index {
            *relocations = SectionHeader {
                name: relocations.name,
                sh_type: SHT_NULL,
                ..SectionHeader::default()
            };
        }
    }
    let index = usize::try_from(index).map_err(|_| CannotInsert::Headers)?;
    let old = table.get_mut(index).ok_or(CannotInsert::Headers)?;
    *old = SectionHeader { name: old.name, ..section };
    Ok(())
}

/// Appends a copy of the section names with the new ones, and the section headers with the new ones.
pub(super) fn append(
    elf: &Elf<'_>,
    file: &mut Vec<u8>,
    header: &mut FileHeader,
    mut table: Vec<SectionHeader>,
    new: &[(&str, SectionHeader)],
) -> Result<(), CannotInsert> {
    let names = elf.section(header.names.into());
    let names = names.and_then(|names| elf.section_data(names).ok());
    let mut names = names.ok_or(CannotInsert::Headers)?.to_vec();
    // A new name must not become that of another section.
    let is_own = |section: &SectionHeader| (section.name as usize) < names.len();
    let is_sound = names.ends_with(&[0]) && table.iter().all(is_own);
    is_sound.then_some(()).ok_or(CannotInsert::Headers)?;
    for (name, section) in new {
        let offset = u32::try_from(names.len()).map_err(|_| CannotInsert::Headers)?;
        table.push(SectionHeader { name: offset, ..*section });
        names.extend(name.bytes().chain([0]));
    }
    let own = table.get_mut(usize::from(header.names)).ok_or(CannotInsert::Headers)?;
    own.offset = file.len() as u64;
    own.size = names.len() as u64;
    file.extend(names);
    header.sections_offset = (file.len() as u64).next_multiple_of(8);
    extend(file, header.sections_offset)?;
    header.sections = u16::try_from(table.len()).map_err(|_| CannotInsert::Headers)?;
    table.iter().for_each(|section| section.write(file, elf.endian()));
    Ok(())
}
