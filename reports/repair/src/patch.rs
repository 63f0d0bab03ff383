//! Writes the section into the file: its bytes, the sizes in headers, and the relocations of an object.

use sframe_validator::Endian;
use sframe_validator::elf::{Elf, ElfKind};

use crate::change::Change;
use crate::error::RepairError;
use crate::merge::Merged;
use crate::object::{self, RELA};
use crate::place::{PROGRAM_HEADER, Place, SECTION_HEADER, segment};

/// The offset of `sh_size` in a section header.
const SH_SIZE: u64 = 32;
/// The offsets of `p_filesz` and `p_memsz` in a program header.
const P_SIZES: [u64; 2] = [32, 40];

/// The file with the merged section. If there are no changes, these are the old bytes.
pub(crate) fn patch(
    elf: &Elf<'_>,
    place: &Place<'_>,
    merged: &Merged,
    changes: &mut Vec<Change>,
) -> Result<Vec<u8>, RepairError> {
    let mut out = Out { bytes: elf.data().to_vec(), endian: elf.endian() };
    let mut size = place.data.len() as u64;
    if !changes.is_empty() {
        if is_relocated(elf, place)? {
            return Err(RepairError::DynamicRelocations);
        }
        size = merged.bytes.len() as u64;
        let rest = vec![0; place.data.len().saturating_sub(merged.bytes.len())];
        out.put(place.header.offset, &merged.bytes)?;
        out.put(place.header.offset.saturating_add(size), &rest)?;
        if elf.is_listed(&place.header) {
            out.put_number(
                entry(place.sections, place.header.index.into(), SECTION_HEADER, SH_SIZE),
                size,
            )?;
        }
        if elf.kind() == ElfKind::Relocatable {
            move_relocations(elf, place, merged, &mut out)?;
        }
    }
    resize_segment(elf, place, size, &mut out, changes)?;
    Ok(out.bytes)
}

/// The file with an empty section, without the program header that leads to it.
pub(crate) fn remove_segment(
    elf: &Elf<'_>,
    place: &Place<'_>,
    changes: &mut Vec<Change>,
) -> Result<Vec<u8>, RepairError> {
    let mut out = Out { bytes: elf.data().to_vec(), endian: elf.endian() };
    let found = segment(elf).and_then(|index| Some((index, elf.segments().get(index)?)));
    let (index, segment) = found.ok_or(RepairError::EmptySection)?;
    // PT_NULL is 0, and an unused header can have any values.
    let offset = entry(place.segments, index as u64, PROGRAM_HEADER as u64, 0);
    let unused = [0; PROGRAM_HEADER];
    out.put(offset, &unused)?;
    changes.push(Change::SegmentRemoved { from: segment.file_size });
    Ok(out.bytes)
}

/// Whether the dynamic loader changes bytes of the section.
fn is_relocated(elf: &Elf<'_>, place: &Place<'_>) -> Result<bool, RepairError> {
    let start = place.header.address;
    let end = start.saturating_add(place.data.len() as u64);
    let is_linked = elf.kind() != ElfKind::Relocatable;
    Ok(is_linked && !elf.dynamic_relocations(start, end)?.is_empty())
}

/// The file offset of a field of an entry in a table of headers.
const fn entry(table: u64, index: u64, size: u64, field: u64) -> u64 {
    table.saturating_add(index.saturating_mul(size)).saturating_add(field)
}

/// Writes the relocations that are left, in the order of the functions.
fn move_relocations(
    elf: &Elf<'_>,
    place: &Place<'_>,
    merged: &Merged,
    out: &mut Out,
) -> Result<(), RepairError> {
    let Some(table) = object::table(elf, place)? else { return Ok(()) };
    let (old, _) = elf.section_data(table)?.as_chunks::<RELA>();
    let mut new = Vec::new();
    for (index, offset) in &merged.relocations {
        let relocation = old.get(*index).ok_or(RepairError::UndecidedRelocations)?;
        new.extend(out.number(*offset));
        new.extend(relocation.iter().skip(8));
    }
    let size = new.len() as u64;
    new.resize(old.len().saturating_mul(RELA), 0);
    out.put(table.offset, &new)?;
    out.put_number(entry(place.sections, table.index.into(), SECTION_HEADER, SH_SIZE), size)
}

/// Gives PT_GNU_SFRAME the size of the section, if it starts where the section does.
fn resize_segment(
    elf: &Elf<'_>,
    place: &Place<'_>,
    size: u64,
    out: &mut Out,
    changes: &mut Vec<Change>,
) -> Result<(), RepairError> {
    let found = segment(elf).and_then(|index| Some((index, elf.segments().get(index)?)));
    let Some((index, segment)) = found else { return Ok(()) };
    let is_of_section =
        (segment.offset, segment.address) == (place.header.offset, place.header.address);
    if !is_of_section || (segment.file_size, segment.memory_size) == (size, size) {
        return Ok(());
    }
    for field in P_SIZES {
        out.put_number(entry(place.segments, index as u64, PROGRAM_HEADER as u64, field), size)?;
    }
    changes.push(Change::SegmentResized { from: segment.file_size, to: size });
    Ok(())
}

/// The bytes of the file.
struct Out {
    bytes: Vec<u8>,
    endian: Endian,
}

impl Out {
    fn number(&self, value: u64) -> [u8; 8] {
        match self.endian {
            Endian::Little => value.to_le_bytes(),
            Endian::Big => value.to_be_bytes(),
        }
    }

    fn put_number(&mut self, offset: u64, value: u64) -> Result<(), RepairError> {
        let bytes = self.number(value);
        self.put(offset, &bytes)
    }

    fn put(&mut self, offset: u64, new: &[u8]) -> Result<(), RepairError> {
        let range = || {
            let start = usize::try_from(offset).ok()?;
            Some(start..start.checked_add(new.len())?)
        };
        let old = range().and_then(|range| self.bytes.get_mut(range)).ok_or(RepairError::NoRoom)?;
        old.copy_from_slice(new);
        Ok(())
    }
}
