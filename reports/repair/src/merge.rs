//! Makes one section of all parts.

use std::cmp::Reverse;

use sframe_validator::Version;
use sframe_validator::elf::{Elf, ElfKind};
use sframe_validator::section::Flags;
use sframe_validator::unwind::CodeAddress;
use sframe_validator::write::{StoredFunction, StoredSection};

use crate::change::{Change, Loss};
use crate::code::Known;
use crate::error::RepairError;
use crate::object;
use crate::parts::{Part, Start};
use crate::place::{File, Place};
use crate::rows::tidy;

/// The section to be written.
pub(crate) struct Merged {
    pub(crate) bytes: Vec<u8>,
    /// The relocations of an object: the position in the old table, and the new offset.
    pub(crate) relocations: Vec<(usize, u64)>,
}

/// A function whose start is known.
struct Placed {
    start: Start,
    function: StoredFunction,
}

/// Merges the parts. `slack` is the number of zeros after them.
pub(crate) fn merge(
    file: &File<'_>,
    parts: &[Part<'_>],
    slack: u64,
    (changes, lost): (&mut Vec<Change>, &mut Vec<Loss>),
) -> Result<Merged, RepairError> {
    let File { elf, place, known, .. } = file;
    let linked = elf.kind() != ElfKind::Relocatable;
    let mut section = common_header(parts)?;
    section.address = place.header.address;
    if parts.len() > 1 {
        changes.insert(0, Change::Merged { sections: parts.len() });
    }
    let mut functions = placed(known, parts, lost);
    let all: usize = parts.iter().map(|part| part.starts.len()).sum();
    if functions.is_empty() && all > 0 {
        return Err(RepairError::NothingLeft);
    }
    if functions.len() < all {
        changes.push(Change::FunctionsRemoved { functions: all - functions.len() });
    }
    remove_duplicates(&mut functions, changes)?;
    let rows: usize = functions.iter_mut().map(|placed| tidy(&mut placed.function)).sum();
    if rows > 0 {
        changes.push(Change::RowsRemoved { rows });
    }
    let was_sorted = section.header.flags & Flags::SORTED != 0;
    if linked {
        let in_order = functions.is_sorted_by_key(|placed| placed.start.place);
        functions.sort_by_key(|placed| placed.start.place);
        section.header.flags |= Flags::SORTED;
        let is_done = functions.is_empty() || in_order && was_sorted;
        if !is_done {
            changes.push(Change::Sorted { functions: functions.len() });
        }
    } else if was_sorted {
        section.header.flags &= !Flags::SORTED;
        changes.push(Change::MarkedUnsorted);
    }
    // Fewer than 8 bytes align the next section.
    let unused = unused_bytes(parts).saturating_add(if slack < 8 { 0 } else { slack });
    if unused > 0 {
        changes.push(Change::UnusedBytesRemoved { bytes: unused });
    }
    let relocations = match linked {
        true => fill_linked(&mut section, functions).map(|()| Vec::new())?,
        false => fill_object(&mut section, functions),
    };
    note_removed_relocations(elf, place, &relocations, changes)?;
    let bytes = section.bytes();
    let fits = bytes.len() <= place.data.len() && u32::try_from(place.data.len()).is_ok();
    fits.then_some(Merged { bytes, relocations }).ok_or(RepairError::NoRoom)
}

/// A section without functions whose header says what all parts say.
fn common_header(parts: &[Part<'_>]) -> Result<StoredSection, RepairError> {
    let first = parts.first().ok_or(RepairError::EmptySection)?;
    let identity = |part: &Part<'_>| {
        let (stored, header) = (&part.stored, &part.stored.header);
        let fixed = (header.cfa_fixed_fp_offset, header.cfa_fixed_ra_offset);
        (stored.version, header.abi_arch, stored.endian, fixed, stored.pcrel)
    };
    if let Some(other) = parts.iter().find(|part| identity(part) != identity(first)) {
        return Err(RepairError::MixedSections { offset: other.offset });
    }
    let of = &first.stored;
    let mut section = StoredSection::new(of.version, of.abi);
    section.endian = of.endian;
    section.pcrel = of.pcrel;
    section.header.abi_arch = of.header.abi_arch;
    section.header.cfa_fixed_fp_offset = of.header.cfa_fixed_fp_offset;
    section.header.cfa_fixed_ra_offset = of.header.cfa_fixed_ra_offset;
    // A flag is a statement about all functions.
    let flags = parts.iter().map(|part| part.stored.header.flags);
    section.header.flags = flags.fold(u8::MAX, |all, flags| all & flags);
    Ok(section)
}

/// The functions whose place is known, in the order of the parts.
fn placed(known: &Known, parts: &[Part<'_>], lost: &mut Vec<Loss>) -> Vec<Placed> {
    let mut functions = Vec::new();
    for part in parts {
        let auxiliary = part.stored.auxiliary.len();
        if auxiliary > 0 {
            lost.push(Loss::AuxiliaryHeader { bytes: auxiliary });
        }
        for (index, (function, start)) in part.stored.functions.iter().zip(&part.starts).enumerate()
        {
            let size = function.size;
            match start {
                None => {
                    let offset = part.offset.saturating_add(part.stored.entry_offset(index));
                    lost.push(Loss::NoRelocation { offset, size });
                }
                Some(start) if !known.is_code(start.place, size) => {
                    lost.push(Loss::OutsideCode { start: start.place, size });
                }
                Some(start) => {
                    let function = StoredFunction { hole: Vec::new(), ..function.clone() };
                    functions.push(Placed { start: *start, function });
                }
            }
        }
    }
    functions
}

/// Leaves one function at each place. The others stay in their order.
fn remove_duplicates(
    functions: &mut Vec<Placed>,
    changes: &mut Vec<Change>,
) -> Result<(), RepairError> {
    let place = |index: usize| functions.get(index).map(|placed| &placed.start.place);
    let size = |index: usize| functions.get(index).map(|placed| placed.function.size);
    let mut order: Vec<usize> = (0..functions.len()).collect();
    order.sort_by_key(|&index| (place(index), Reverse(size(index)), index));
    let mut kept = vec![true; functions.len()];
    let mut last: Option<&Placed> = None;
    for index in order {
        let (Some(this), Some(keep)) = (functions.get(index), kept.get_mut(index)) else {
            continue;
        };
        match last.filter(|last| last.start.place == this.start.place) {
            None => last = Some(this),
            Some(other) => {
                changes.push(replaced(other, this)?);
                *keep = false;
            }
        }
    }
    let mut kept = kept.into_iter();
    functions.retain(|_| kept.next().unwrap_or(true));
    Ok(())
}

/// The change by which `second` disappears next to `first`, which has the same start and at least the same size.
fn replaced(first: &Placed, second: &Placed) -> Result<Change, RepairError> {
    let start: CodeAddress = second.start.place;
    if first.function == second.function {
        Ok(Change::DuplicateRemoved { start })
    } else if first.function.size > 0 && second.function.size == 0 {
        Ok(Change::EmptyFunctionRemoved { start })
    } else {
        Err(RepairError::ConflictingFunctions { start })
    }
}

/// Bytes inside the parts that belong to nothing.
fn unused_bytes(parts: &[Part<'_>]) -> u64 {
    let of_part = |stored: &StoredSection| {
        let holes: usize = stored.functions.iter().map(|function| function.hole.len()).sum();
        let gaps = stored.gap_before_functions.len() + stored.gap_before_rows.len();
        (holes + gaps + stored.unused_rows.len() + stored.trailing.len()) as u64
    };
    parts.iter().map(|part| of_part(&part.stored)).sum()
}

/// Puts the functions of a linked file into the section.
fn fill_linked(section: &mut StoredSection, functions: Vec<Placed>) -> Result<(), RepairError> {
    for (index, Placed { start, function }) in functions.into_iter().enumerate() {
        let field = if section.pcrel { section.entry_offset(index) } else { 0 };
        let base = section.address.wrapping_add(field);
        let value = start.place.address.wrapping_sub(base).cast_signed();
        let fits = section.version > Version::V2 || i32::try_from(value).is_ok();
        fits.then_some(()).ok_or(RepairError::NoRoom)?;
        let (start, start_field) = (start.place.address, Some(value));
        section.push(StoredFunction { start, start_field, ..function });
    }
    Ok(())
}

/// Puts the functions of an object into the section. Returns the relocations for their start fields.
fn fill_object(section: &mut StoredSection, functions: Vec<Placed>) -> Vec<(usize, u64)> {
    let mut relocations = Vec::new();
    for (index, Placed { start, function }) in functions.into_iter().enumerate() {
        let field = section.entry_offset(index);
        relocations.extend(start.relocation.map(|relocation| (relocation, field)));
        let (start, start_field) = (start.place.address, Some(0));
        section.push(StoredFunction { start, start_field, ..function });
    }
    relocations
}

/// Lists relocations that no function needs as removed.
fn note_removed_relocations(
    elf: &Elf<'_>,
    place: &Place<'_>,
    kept: &[(usize, u64)],
    changes: &mut Vec<Change>,
) -> Result<(), RepairError> {
    if elf.kind() == ElfKind::Relocatable {
        let before = object::relocations(elf, place)?.len();
        let relocations = before.saturating_sub(kept.len());
        if relocations > 0 {
            changes.push(Change::RelocationsRemoved { relocations });
        }
    }
    Ok(())
}
