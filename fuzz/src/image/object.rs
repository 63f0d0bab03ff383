//! Minimal relocatable objects: code, an SFrame section, and the relocations of its start fields.

use sframe_validator::Abi;
use sframe_validator::elf::{SHF_ALLOC, SHF_EXECINSTR, SHT_GNU_SFRAME, SHT_NOBITS, SHT_PROGBITS};
use sframe_validator::section::{StartRelocation, Version};

use super::{Out, Section};

const ET_REL: u16 = 1;
const SHT_SYMTAB: u32 = 2;
const SHT_RELA: u32 = 4;
const SHF_INFO_LINK: u64 = 0x40;
/// A symbol of type `STT_SECTION`.
const SECTION_SYMBOL: u8 = 3;

/// An object to be written.
#[derive(Clone, Debug)]
pub struct Object<'a> {
    /// The machine, and with it the byte order.
    pub abi: Abi,
    /// The SFrame version, which decides the width of start fields.
    pub version: Version,
    /// Bytes of code, which are not in the file.
    pub code: u64,
    /// The SFrame section.
    pub sframe: &'a [u8],
    /// Whether the section has the type that errata 1 of version 2 brought.
    pub typed: bool,
    /// What the start fields stand for: places in the code.
    pub relocations: &'a [StartRelocation],
}

impl Object<'_> {
    /// The file's bytes.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let (relocations, symbols) = (self.relocations(), self.symbols());
        let code = Section {
            name: ".text",
            sh_type: SHT_NOBITS,
            flags: SHF_ALLOC | SHF_EXECINSTR,
            size: self.code,
            ..Section::null()
        };
        let data = |name, sh_type, flags, data, links| Section {
            name,
            sh_type,
            flags,
            address: 0,
            size: <[u8]>::len(data) as u64,
            data,
            links,
        };
        let sframe_type = if self.typed { SHT_GNU_SFRAME } else { SHT_PROGBITS };
        let sections = [
            code,
            data(".sframe", sframe_type, SHF_ALLOC, self.sframe, (0, 0, 0)),
            data(".rela.sframe", SHT_RELA, SHF_INFO_LINK, &relocations, (4, 2, 24)),
            // Its strings are the sections' names; it has two symbols, both local.
            data(".symtab", SHT_SYMTAB, 0, &symbols, (5, 2, 24)),
        ];
        let mut out = Out { bytes: vec![0; 64], endian: self.abi.endian() };
        let (_, table) = out.sections(&sections);
        let mut header = Out { bytes: Vec::new(), endian: self.abi.endian() };
        header.file_header(ET_REL, self.abi, table, (0, sections.len()));
        out.bytes[..64].copy_from_slice(&header.bytes);
        out.bytes
    }

    /// One of each start field, against the section of code.
    fn relocations(&self) -> Vec<u8> {
        let kind = match (self.abi, self.version == Version::V3) {
            (Abi::Amd64, false) => 2,
            (Abi::Amd64, true) => 24,
            (Abi::Aarch64Big | Abi::Aarch64Little, false) => 261,
            (Abi::Aarch64Big | Abi::Aarch64Little, true) => 260,
            (Abi::S390x, false) => 5,
            (Abi::S390x, true) => 23,
        };
        let mut out = Out { bytes: Vec::new(), endian: self.abi.endian() };
        for relocation in self.relocations {
            out.u64(relocation.field_offset);
            out.u64(1 << 32 | kind);
            out.u64(relocation.target.map_or(0, |target| target.address));
        }
        out.bytes
    }

    /// The first symbol, and that of the section of code.
    fn symbols(&self) -> Vec<u8> {
        let mut out = Out { bytes: vec![0; 24], endian: self.abi.endian() };
        out.u32(0);
        out.bytes.extend([SECTION_SYMBOL, 0]);
        out.u16(1);
        out.u64(0);
        out.u64(0);
        out.bytes
    }
}
