//! The SFrame sections of a file, or a file that is one section and nothing else.

use sframe_validator::elf::{Elf, ElfError, ElfKind, RelocationTable};
use sframe_validator::section::StartRelocation;
use sframe_validator::{Abi, Endian, Placement};

/// What the user says about bytes that are one section without an ELF file around it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RawOptions {
    /// The section's address.
    pub address: u64,
    /// The machine, where the header's shall not decide.
    pub abi: Option<Abi>,
    /// The byte order, where the magic number's shall not decide.
    pub endian: Option<Endian>,
}

impl RawOptions {
    /// Where the section stands.
    #[must_use]
    pub const fn placement(&self) -> Placement<'static> {
        Placement::at(self.address).with_abi(self.abi).with_endian(self.endian)
    }
}

/// The bytes of a section and all that is needed to read them.
#[derive(Debug)]
pub struct SectionSource<'a> {
    /// The section's name, printable.
    pub name: String,
    /// Index in the section header table; `None` for bare bytes.
    pub index: Option<u32>,
    /// The bytes.
    pub data: &'a [u8],
    /// Offset of the first byte in the file.
    pub file_offset: u64,
    /// The section's address.
    pub address: u64,
    /// What overrules the header, of bare bytes.
    pub raw: RawOptions,
    /// The relocations of start fields, of a relocatable object.
    pub relocations: Option<Vec<StartRelocation>>,
}

impl<'a> SectionSource<'a> {
    /// A file's bytes as one section.
    #[must_use]
    pub fn bare(data: &'a [u8], raw: RawOptions) -> SectionSource<'a> {
        SectionSource {
            name: ".sframe".to_owned(),
            index: None,
            data,
            file_offset: 0,
            address: raw.address,
            raw,
            relocations: None,
        }
    }

    /// Where the section stands.
    #[must_use]
    pub fn placement(&self) -> Placement<'_> {
        match &self.relocations {
            Some(relocations) => Placement::relocated(relocations),
            None => Placement::at(self.address),
        }
        .with_abi(self.raw.abi)
        .with_endian(self.raw.endian)
    }
}

/// The SFrame sections of an ELF file, in the section header table's order; a section whose bytes
/// are not in the file is an error in its place, and so is one that shares its bytes with others so
/// often that all of them are longer than the file ([`ElfError::SharedBytes`]).
pub fn sframe_sections<'a>(
    elf: &Elf<'a>,
) -> impl Iterator<Item = Result<SectionSource<'a>, ElfError>> {
    let mut left = elf.data().len() as u64;
    elf.sframe_sections().map(move |section| {
        left = left.checked_sub(section.size).ok_or(ElfError::SharedBytes)?;
        let relocations = match elf.kind() {
            ElfKind::Relocatable => Some(RelocationTable::load(elf, section.index)?.starts()),
            ElfKind::Executable | ElfKind::Shared | ElfKind::Other(_) => None,
        };
        Ok(SectionSource {
            name: section.name.to_string(),
            index: Some(section.index),
            data: elf.section_data(section)?,
            file_offset: section.offset,
            address: section.address,
            raw: RawOptions::default(),
            relocations,
        })
    })
}
