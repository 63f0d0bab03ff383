//! Decides where the functions of a relocatable object start: which relocation belongs to which function.
//!
//! lld and gold move relocations with the sections that they append. GNU ld 2.40 and 2.44 (`ld -r`) merge the functions
//! into one table in the order of the inputs, and leave the relocations where they would be if the sections had been
//! appended. Their order is still the order of the functions, which CFI or symbols have to confirm.

use std::collections::HashMap;

use sframe_validator::elf::{Elf, ElfSection, Relocation, SHT_CREL, SHT_REL, SHT_RELA};

use crate::change::Change;
use crate::code::Known;
use crate::error::RepairError;
use crate::parts::{Part, Start};
use crate::place::{Place, is_exclusive};

/// The bytes of an `Elf64_Rela`.
pub(crate) const RELA: usize = 24;

/// The section with the relocations of the SFrame section.
pub(crate) fn table<'e, 'a>(
    elf: &'e Elf<'a>,
    place: &Place<'a>,
) -> Result<Option<&'e ElfSection<'a>>, RepairError> {
    let mut tables = elf.sections().iter().filter(|section| {
        matches!(section.sh_type, SHT_RELA | SHT_REL | SHT_CREL)
            && section.info == place.header.index
    });
    let Some(table) = tables.next() else { return Ok(None) };
    let is_whole = table.size.is_multiple_of(RELA as u64);
    if tables.next().is_some() || table.sh_type != SHT_RELA || !is_whole {
        return Err(RepairError::UnsupportedRelocations);
    }
    elf.section_data(table)?;
    match is_exclusive(elf, table, table.size) {
        true => Ok(Some(table)),
        false => Err(RepairError::SharedBytes),
    }
}

/// The relocations in the order of their table.
pub(crate) fn relocations<'p>(
    elf: &Elf<'_>,
    place: &'p Place<'_>,
) -> Result<&'p [Relocation], RepairError> {
    let size = table(elf, place)?.map_or(0, |table| table.size);
    let relocations = place.sframe.relocations.as_ref().map_err(|error| *error)?;
    let relocations = relocations.relocations.as_slice();
    match relocations.len() as u64 == size / RELA as u64 {
        true => Ok(relocations),
        false => Err(RepairError::UnsupportedRelocations),
    }
}

/// Sets the starts of all functions.
pub(crate) fn assign(
    elf: &Elf<'_>,
    place: &Place<'_>,
    known: &Known,
    parts: &mut [Part<'_>],
    changes: &mut Vec<Change>,
) -> Result<(), RepairError> {
    let relocations = relocations(elf, place)?;
    if assign_by_offset(relocations, parts)? {
        return Ok(());
    }
    let [part] = parts else { return Err(RepairError::UndecidedRelocations) };
    let relocations = assign_by_order(relocations, known, part)?;
    changes.push(Change::RelocationsMoved { relocations });
    Ok(())
}

/// Gives each function the relocation of its start field. Returns whether every relocation has a function then.
fn assign_by_offset(
    relocations: &[Relocation],
    parts: &mut [Part<'_>],
) -> Result<bool, RepairError> {
    let mut by_offset = HashMap::new();
    for (index, relocation) in active(relocations) {
        if by_offset.insert(relocation.offset, index).is_some() {
            return Err(RepairError::UndecidedRelocations);
        }
    }
    for part in parts {
        for (index, start) in part.starts.iter_mut().enumerate() {
            let field = part.offset.saturating_add(part.stored.entry_offset(index));
            let found = by_offset.remove(&field);
            *start = found.and_then(|index| start_of(relocations, index));
        }
    }
    Ok(by_offset.is_empty())
}

/// Gives each function the relocation with the same position in the order of offsets. Returns the number of relocations
/// that were elsewhere.
fn assign_by_order(
    relocations: &[Relocation],
    known: &Known,
    part: &mut Part<'_>,
) -> Result<usize, RepairError> {
    let mut order: Vec<_> = active(relocations).collect();
    order.sort_by_key(|(_, relocation)| relocation.offset);
    if order.len() != part.starts.len() {
        return Err(RepairError::UndecidedRelocations);
    }
    let mut moved = 0;
    let functions = part.stored.functions.iter().zip(&mut part.starts).enumerate();
    for ((position, (function, start)), (index, relocation)) in functions.zip(order) {
        let found = start_of(relocations, index).ok_or(RepairError::UndecidedRelocations)?;
        if !known.has(found.place, function.size) {
            return Err(RepairError::UndecidedRelocations);
        }
        moved += usize::from(relocation.offset != part.stored.entry_offset(position));
        *start = Some(found);
    }
    Ok(moved)
}

/// The relocations that `ld -r` has not discarded, with their positions.
fn active(relocations: &[Relocation]) -> impl Iterator<Item = (usize, &Relocation)> {
    relocations.iter().enumerate().filter(|(_, relocation)| !relocation.is_none())
}

fn start_of(relocations: &[Relocation], index: usize) -> Option<Start> {
    let place = relocations.get(index)?.target()?;
    Some(Start { place, relocation: Some(index) })
}
