//! Changes headers of a written file so that they make false claims.
//!
//! `object`'s encoder computes the file header and the null section's header. It cannot write a wrong number of
//! sections, size of a header or offset of a table. The functions in this module change the headers of a file that is
//! already written. Tests of readers need such files.

use object::Endianness;
use object::elf::{FileHeader64, SectionHeader64, SymbolSection};
use object::endian::{U16, U64};
use object::pod::{bytes_of, from_bytes};
use object::read::elf::FileHeader as _;
use object::write::elf::Encoder;

use super::{SectionHeader, overwrite};

/// The fields of the file header about the tables of headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tables {
    /// `e_phoff`.
    pub segments_offset: u64,
    /// `e_shoff`.
    pub sections_offset: u64,
    /// `e_phentsize`.
    pub segment_size: u16,
    /// `e_phnum`.
    pub segment_count: u16,
    /// `e_shentsize`.
    pub section_size: u16,
    /// `e_shnum`.
    pub section_count: u16,
    /// `e_shstrndx`.
    pub names_index: u16,
}

/// Changes the file header of a 64-bit file. Returns `None` if the bytes are not such a file.
///
/// ```
/// use sframe_validator::Abi;
/// use sframe_validator::elf::{Elf, ElfKind};
/// use sframe_validator::write::elf::{ElfWriter, claims};
///
/// let mut file = ElfWriter::new(Abi::S390x, ElfKind::Shared).finish()?;
/// assert_eq!(Elf::parse(&file)?.sections().len(), 2);
/// claims::tables(&mut file, |tables| tables.section_count = 1_000);
/// assert!(Elf::parse(&file).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn tables(file: &mut [u8], change: impl FnOnce(&mut Tables)) -> Option<()> {
    let (mut header, endian) = file_header(file)?;
    let mut tables = Tables {
        segments_offset: header.e_phoff.get(endian),
        sections_offset: header.e_shoff.get(endian),
        segment_size: header.e_phentsize.get(endian),
        segment_count: header.e_phnum.get(endian),
        section_size: header.e_shentsize.get(endian),
        section_count: header.e_shnum.get(endian),
        names_index: header.e_shstrndx.get(endian).0,
    };
    change(&mut tables);
    header.e_phoff = U64::new(endian, tables.segments_offset);
    header.e_shoff = U64::new(endian, tables.sections_offset);
    header.e_phentsize = U16::new(endian, tables.segment_size);
    header.e_phnum = U16::new(endian, tables.segment_count);
    header.e_shentsize = U16::new(endian, tables.section_size);
    header.e_shnum = U16::new(endian, tables.section_count);
    header.e_shstrndx = U16::new(endian, SymbolSection(tables.names_index));
    overwrite(file, 0, bytes_of(&header));
    Some(())
}

/// Takes the section headers away from a 64-bit file: its header no longer leads to them. Returns `None` if the bytes are
/// not such a file.
///
/// ```
/// use sframe_validator::Abi;
/// use sframe_validator::elf::{Elf, ElfKind, SectionHeaders};
/// use sframe_validator::write::elf::{ElfWriter, claims};
///
/// let mut file = ElfWriter::new(Abi::Amd64, ElfKind::Shared).finish()?;
/// claims::no_sections(&mut file).expect("a 64-bit file");
/// assert_eq!(Elf::parse(&file)?.section_headers(), SectionHeaders::Absent);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn no_sections(file: &mut [u8]) -> Option<()> {
    tables(file, |tables| {
        (tables.sections_offset, tables.section_count, tables.names_index) = (0, 0, 0);
    })
}

/// Changes the section header with index `index` in a 64-bit file; index 0 is the null section. Returns `None` if the
/// bytes are not such a file, or it does not have that header.
///
/// ```
/// use sframe_validator::Abi;
/// use sframe_validator::elf::{Elf, ElfKind};
/// use sframe_validator::write::elf::{ElfWriter, claims};
///
/// let mut file = ElfWriter::new(Abi::Amd64, ElfKind::Shared).finish()?;
/// // Index 1 is the section of names.
/// claims::section(&mut file, 1, |header| header.alignment = 4096).expect("it is there");
/// assert_eq!(Elf::parse(&file)?.sections()[1].alignment, 4096);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn section(file: &mut [u8], index: u32, change: impl FnOnce(&mut SectionHeader)) -> Option<()> {
    let (header, endian) = file_header(file)?;
    let size = size_of::<SectionHeader64<Endianness>>() as u64;
    let offset = header.e_shoff.get(endian).checked_add(size.checked_mul(index.into())?)?;
    let bytes = file.get(usize::try_from(offset).ok()?..)?;
    let (stored, _) = from_bytes::<SectionHeader64<Endianness>>(bytes).ok()?;
    let mut header = SectionHeader {
        name: stored.sh_name.get(endian),
        sh_type: stored.sh_type.get(endian).0,
        flags: stored.sh_flags.get(endian).0,
        address: stored.sh_addr.get(endian),
        offset: stored.sh_offset.get(endian),
        size: stored.sh_size.get(endian),
        link: stored.sh_link.get(endian),
        info: stored.sh_info.get(endian),
        alignment: stored.sh_addralign.get(endian),
        entry_size: stored.sh_entsize.get(endian),
    };
    change(&mut header);
    let mut bytes = alloc::vec::Vec::new();
    Encoder::new(endian, true, object::elf::EM_NONE).section_header(&mut bytes, &header.encoded());
    overwrite(file, offset, &bytes);
    Some(())
}

fn file_header(file: &[u8]) -> Option<(FileHeader64<Endianness>, Endianness)> {
    let header = FileHeader64::<Endianness>::parse(file).ok()?;
    Some((*header, header.endian().ok()?))
}
