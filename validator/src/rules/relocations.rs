//! The properties on which a linker relies: one relocation for each function of an object, and inputs that match.

mod mixed_inputs;
mod relocated_field_nonzero;
mod relocation_duplicate;
mod relocation_misplaced;
mod relocation_missing;
mod relocation_none;
mod relocation_order;
mod relocation_target;
mod relocation_type;

use super::concatenation::concatenated_at;
use super::entry::{Check, Entry};
use crate::elf::{Class, Relocation};
use crate::section::{FunctionEntry, Section};
use crate::subject::FileContext;

/// The rules of this group, in the order in which they are listed.
pub(super) const RULES: &[Entry] = &[
    Entry::new(&relocation_missing::RULE, Check::File(relocation_missing::check)),
    Entry::new(&relocation_order::RULE, Check::File(relocation_order::check)),
    Entry::new(&relocation_misplaced::RULE, Check::File(relocation_misplaced::check)),
    Entry::new(&relocation_type::RULE, Check::File(relocation_type::check)),
    Entry::new(&relocation_target::RULE, Check::File(relocation_target::check)),
    Entry::new(&relocation_none::RULE, Check::File(relocation_none::check)),
    Entry::new(&relocation_duplicate::RULE, Check::File(relocation_duplicate::check)),
    Entry::new(&relocated_field_nonzero::RULE, Check::File(relocated_field_nonzero::check)),
    Entry::new(&mixed_inputs::RULE, Check::LinkSet(mixed_inputs::check)),
];

/// The section of a 64-bit relocatable object, if its relocations can be read and its function table is inside it.
fn object_section<'a>(file: &FileContext<'a>) -> Option<&'a Section<'a>> {
    file.relocations?;
    let relocatable = file.is_relocatable() && file.elf.class() == Class::Elf64;
    let section = file.section.filter(|_| relocatable)?;
    (section.header().fde_table_end() <= section.data().len() as u64).then_some(section)
}

/// All relocations of the section, in the order of the file.
fn all<'a>(file: &FileContext<'a>) -> &'a [Relocation] {
    file.relocations.map_or(&[], |table| &table.relocations)
}

/// The number of relocations that have no addend (`SHT_REL`).
fn without_addend(file: &FileContext<'_>) -> u64 {
    file.relocations.map_or(0, |table| table.without_addend)
}

/// The relocations other than `R_*_NONE`, with their positions in the table.
fn effective<'a>(file: &FileContext<'a>) -> impl Iterator<Item = (usize, &'a Relocation)> {
    all(file).iter().enumerate().filter(|(_, relocation)| !relocation.is_none())
}

/// Relocations that do not apply to a start field of the section. If a linker that does not know SFrame has appended
/// another section to this one, its relocations are not counted, because they apply to that section's start fields.
fn misplaced<'a>(
    file: &FileContext<'a>,
    section: &'a Section<'a>,
) -> impl Iterator<Item = (usize, &'a Relocation)> {
    let end = concatenated_at(section).unwrap_or(u64::MAX);
    effective(file).filter(move |(_, relocation)| {
        relocation.offset < end && function_at(section, relocation.offset).is_none()
    })
}

/// The function whose start field is at `offset`.
fn function_at<'a>(section: &'a Section<'a>, offset: u64) -> Option<FunctionEntry<'a>> {
    let header = section.header();
    let before = offset.checked_sub(header.fde_table_start())?;
    let index = u32::try_from(before / header.version.entry_size()).ok()?;
    section.entry(index).filter(|entry| entry.offset() == offset)
}
