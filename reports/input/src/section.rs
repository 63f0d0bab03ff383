//! An SFrame section together with everything needed to read it, from an ELF file or from bare bytes.

use sframe_validator::elf::{ElfError, SframeSection};
use sframe_validator::section::Error;
use sframe_validator::{Abi, Endian, Placement, Section};

/// The user's options for reading a file that consists of a bare section, without ELF.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RawOptions {
    /// The section's address.
    pub address: u64,
    /// The ABI and architecture, overriding the header's.
    pub abi: Option<Abi>,
    /// The byte order, overriding the one that the magic number implies.
    pub endian: Option<Endian>,
    /// Whether the section is from a linked file, so that its rules apply.
    pub linked: bool,
}

impl RawOptions {
    /// The placement of the section for reading it.
    #[must_use]
    pub const fn placement(&self) -> Placement<'static> {
        Placement::at(self.address).with_abi(self.abi).with_endian(self.endian)
    }
}

/// A section that was read, and its place in its file.
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
    /// The section's address, the relocations of its start fields, and the options that override its header.
    pub placement: Placement<'a>,
    /// The section, or why its header cannot be read.
    pub section: Result<Section<'a>, Error>,
}

impl<'a> SectionSource<'a> {
    /// A file that consists of one bare section.
    #[must_use]
    pub fn bare(data: &'a [u8], raw: RawOptions) -> SectionSource<'a> {
        let placement = raw.placement();
        SectionSource {
            name: ".sframe".to_owned(),
            index: None,
            data,
            file_offset: 0,
            placement,
            section: Section::parse(data, placement),
        }
    }

    /// A section of an ELF file.
    ///
    /// # Errors
    /// Returns an error if its bytes or its relocations cannot be read.
    pub fn of(content: &'a SframeSection<'_>) -> Result<SectionSource<'a>, ElfError> {
        let (placement, data) = (content.placement()?, content.data?);
        Ok(SectionSource {
            name: content.header.name.to_string(),
            index: Some(content.header.index),
            data,
            file_offset: content.header.offset,
            placement,
            section: Section::parse(data, placement),
        })
    }
}
