//! The ELF section that contains the bytes (its file, type, flags and place), and the PT_GNU_SFRAME program header,
//! with which readers find the section at run time.

mod code_without_section;
mod dynamic_relocation;
mod elf_class;
mod machine_abi;
mod section_alignment;
mod section_duplicate;
mod section_executable;
mod section_headers_unusable;
mod section_in_code_segment;
mod section_in_group;
mod section_links;
mod section_nobits;
mod section_not_loaded;
mod section_outside_load;
mod section_type;
mod section_type_early;
mod section_writable;
mod segment_address;
mod segment_duplicate;
mod segment_long;
mod segment_memory_size;
mod segment_missing;
mod segment_outside_load;
mod segment_over_empty;
mod segment_permissions;
mod segment_short;
mod segment_stale_bytes;
mod segment_without_section;

use super::entry::{Check, Entry};
use crate::elf::{ElfSection, PT_GNU_SFRAME, SHT_NOBITS, Segment};
use crate::subject::FileContext;

/// The rules of this group, in the order in which they are listed.
pub(super) const RULES: &[Entry] = &[
    Entry::new(&elf_class::RULE, Check::File(elf_class::check)),
    Entry::new(&machine_abi::RULE, Check::File(machine_abi::check)),
    Entry::new(&section_headers_unusable::RULE, Check::File(section_headers_unusable::check)),
    Entry::new(&code_without_section::RULE, Check::File(code_without_section::check)),
    Entry::new(&section_duplicate::RULE, Check::File(section_duplicate::check)),
    Entry::new(&section_type::RULE, Check::File(section_type::check)),
    Entry::new(&section_type_early::RULE, Check::File(section_type_early::check)),
    Entry::new(&section_nobits::RULE, Check::File(section_nobits::check)),
    Entry::new(&section_not_loaded::RULE, Check::File(section_not_loaded::check)),
    Entry::new(&section_executable::RULE, Check::File(section_executable::check)),
    Entry::new(&section_writable::RULE, Check::File(section_writable::check)),
    Entry::new(&section_in_group::RULE, Check::File(section_in_group::check)),
    Entry::new(&section_alignment::RULE, Check::File(section_alignment::check)),
    Entry::new(&section_links::RULE, Check::File(section_links::check)),
    Entry::new(&section_outside_load::RULE, Check::File(section_outside_load::check)),
    Entry::new(&section_in_code_segment::RULE, Check::File(section_in_code_segment::check)),
    Entry::new(&dynamic_relocation::RULE, Check::File(dynamic_relocation::check)),
    Entry::new(&segment_missing::RULE, Check::File(segment_missing::check)),
    Entry::new(&segment_duplicate::RULE, Check::File(segment_duplicate::check)),
    Entry::new(&segment_address::RULE, Check::File(segment_address::check)),
    Entry::new(&segment_permissions::RULE, Check::File(segment_permissions::check)),
    Entry::new(&segment_memory_size::RULE, Check::File(segment_memory_size::check)),
    Entry::new(&segment_short::RULE, Check::File(segment_short::check)),
    Entry::new(&segment_long::RULE, Check::File(segment_long::check)),
    Entry::new(&segment_stale_bytes::RULE, Check::File(segment_stale_bytes::check)),
    Entry::new(&segment_over_empty::RULE, Check::File(segment_over_empty::check)),
    Entry::new(&segment_outside_load::RULE, Check::File(segment_outside_load::check)),
    Entry::new(&segment_without_section::RULE, Check::File(segment_without_section::check)),
];

/// The file's first PT_GNU_SFRAME segment, if the section being checked is the file's first SFrame section, to which
/// the segment must lead.
fn sframe_segment<'a>(file: &FileContext<'a>) -> Option<&'a Segment> {
    file.elf.sframe_sections().next().filter(|first| first.index == file.sframe.index)?;
    file.elf.segments().iter().find(|segment| segment.p_type == PT_GNU_SFRAME)
}

/// The segment and its section, if both start at the same place and the section has bytes.
fn segment_of_section<'a>(file: &FileContext<'a>) -> Option<(&'a Segment, &'a ElfSection<'a>)> {
    let segment = sframe_segment(file)?;
    let section = file.sframe;
    let related = segment.address == section.address
        && segment.offset == section.offset
        && section.sh_type != SHT_NOBITS;
    related.then_some((segment, section))
}

/// The bytes in the segment after the section.
fn slack<'a>(file: &FileContext<'a>) -> Option<&'a [u8]> {
    let (segment, section) = segment_of_section(file)?;
    let start = section.offset.checked_add(section.size)?;
    let end = segment.offset.checked_add(segment.file_size)?;
    file.elf.data().get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
}
