//! The section's place in the file, which nothing else may use.

use sframe_oracle::cfi::Cfi;
use sframe_validator::Endian;
use sframe_validator::elf::{Class, Elf, ElfSection, PT_GNU_SFRAME, SHT_NOBITS, SframeSection};

use crate::code::Known;
use crate::error::RepairError;

/// The bytes of an `Elf64_Ehdr`.
pub(crate) const FILE_HEADER: u64 = 64;
/// The bytes of an `Elf64_Shdr`.
pub(crate) const SECTION_HEADER: u64 = 64;
/// The bytes of an `Elf64_Phdr`.
pub(crate) const PROGRAM_HEADER: usize = 56;

/// The offsets of `e_phoff` and `e_shoff` in the file header.
const E_PHOFF: usize = 32;
const E_SHOFF: usize = 40;

/// The file to be repaired.
pub(crate) struct File<'a> {
    pub(crate) elf: &'a Elf<'a>,
    pub(crate) cfi: &'a [Cfi<'a>],
    pub(crate) place: &'a Place<'a>,
    pub(crate) known: &'a Known,
}

/// The file's only SFrame section.
pub(crate) struct Place<'a> {
    pub(crate) header: ElfSection<'a>,
    pub(crate) data: &'a [u8],
    pub(crate) sframe: SframeSection<'a>,
    /// The file offset of the section header table.
    pub(crate) sections: u64,
    /// The file offset of the program header table.
    pub(crate) segments: u64,
}

impl<'a> Place<'a> {
    pub(crate) fn of(elf: &Elf<'a>) -> Result<Place<'a>, RepairError> {
        if elf.class() != Class::Elf64 || elf.abi().is_none() {
            return Err(RepairError::UnsupportedFile);
        }
        let mut contents = elf.sframe_contents();
        let sframe = contents.next().ok_or(RepairError::NoSection)?;
        if contents.next().is_some() {
            return Err(RepairError::SeveralSections);
        }
        let place = Place {
            header: sframe.header,
            data: sframe.data?,
            sections: field(elf, E_SHOFF).ok_or(RepairError::UnsupportedFile)?,
            segments: field(elf, E_PHOFF).ok_or(RepairError::UnsupportedFile)?,
            sframe,
        };
        let is_alone = is_exclusive(elf, &place.header, place.data.len() as u64);
        is_alone.then_some(place).ok_or(RepairError::SharedBytes)
    }
}

/// Whether no header, table or other section uses the first `size` bytes of a section.
pub(crate) fn is_exclusive(elf: &Elf<'_>, section: &ElfSection<'_>, size: u64) -> bool {
    let start = section.offset;
    let is_apart = |from: u64, bytes: u64| {
        bytes == 0 || from.saturating_add(bytes) <= start || start.saturating_add(size) <= from
    };
    let is_apart_from = |table: usize, count: usize, entry: u64| {
        field(elf, table).is_some_and(|from| is_apart(from, entry.saturating_mul(count as u64)))
    };
    let others = elf.listed_sections().iter().filter(|other| {
        other.sh_type != SHT_NOBITS && other.index != 0 && other.index != section.index
    });
    is_apart(0, FILE_HEADER)
        && is_apart_from(E_SHOFF, elf.listed_sections().len(), SECTION_HEADER)
        && is_apart_from(E_PHOFF, elf.segments().len(), PROGRAM_HEADER as u64)
        && others.into_iter().all(|other| is_apart(other.offset, other.size))
}

/// A field of 8 bytes in the file header.
fn field(elf: &Elf<'_>, offset: usize) -> Option<u64> {
    let bytes = elf.data().get(offset..)?.first_chunk::<8>()?;
    Some(match elf.endian() {
        Endian::Little => u64::from_le_bytes(*bytes),
        Endian::Big => u64::from_be_bytes(*bytes),
    })
}

/// The index of PT_GNU_SFRAME in the table of program headers.
pub(crate) fn segment(elf: &Elf<'_>) -> Option<usize> {
    elf.segments().iter().position(|segment| segment.p_type == PT_GNU_SFRAME)
}
