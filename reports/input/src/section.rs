//! An SFrame section together with everything needed to read it, from an ELF file or from bare bytes.

use sframe_validator::elf::{Elf, ElfError, SframeSection};
use sframe_validator::section::StartRelocation;
use sframe_validator::{Abi, Endian, Placement};

/// The user's options for reading a file that consists of a bare section, without ELF.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RawOptions {
    /// The section's address.
    pub address: u64,
    /// The ABI and architecture, overriding the header's.
    pub abi: Option<Abi>,
    /// The byte order, overriding the one that the magic number implies.
    pub endian: Option<Endian>,
}

impl RawOptions {
    /// The placement of the section for reading it.
    #[must_use]
    pub const fn placement(&self) -> Placement<'static> {
        Placement::at(self.address).with_abi(self.abi).with_endian(self.endian)
    }
}

/// The bytes of a section and everything needed to read them.
#[derive(Debug)]
pub struct SectionSource<'a> {
    /// The section's name, safe to print.
    pub name: String,
    /// The index in the section header table; `None` for bare bytes.
    pub index: Option<u32>,
    /// The bytes.
    pub data: &'a [u8],
    /// The offset of the first byte in the file.
    pub file_offset: u64,
    /// The section's address.
    pub address: u64,
    /// For bare bytes: the options that override the header.
    pub raw: RawOptions,
    /// For a section of a relocatable object: the relocations of the start addresses of functions.
    pub relocations: Option<Vec<StartRelocation>>,
}

impl<'a> SectionSource<'a> {
    /// A file that consists of one bare section.
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

    /// A section of an ELF file.
    fn of(section: SframeSection<'a>) -> Result<SectionSource<'a>, ElfError> {
        section.placement()?;
        Ok(SectionSource {
            name: section.header.name.to_string(),
            index: Some(section.header.index),
            data: section.data?,
            file_offset: section.header.offset,
            address: section.header.address,
            raw: RawOptions::default(),
            relocations: section.into_starts(),
        })
    }

    /// The placement of the section for reading it.
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

/// The SFrame sections of an ELF file, in the order of the section header table. A section whose bytes or relocations
/// cannot be read yields an error; see [`Elf::sframe_contents`].
pub fn sframe_sections<'a>(
    elf: &Elf<'a>,
) -> impl Iterator<Item = Result<SectionSource<'a>, ElfError>> {
    elf.sframe_contents().map(SectionSource::of)
}
