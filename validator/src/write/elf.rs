//! Writes ELF files: `object`'s encoder writes the headers, and [`ElfWriter`] places the contents.
//!
//! Every field of a section header or program header is written as given, even a size larger than the file, or an
//! offset that another section also has. The encoder computes other values, and would always write them correctly.
//! [`claims`] changes those afterwards. [`Image`] and [`Object`] are the smallest files around an SFrame section.
//!
//! ```
//! use sframe_validator::Abi;
//! use sframe_validator::elf::{Elf, ElfKind, SHF_ALLOC, SHT_GNU_SFRAME};
//! use sframe_validator::write::elf::{ElfWriter, SectionHeader};
//!
//! let mut file = ElfWriter::new(Abi::Amd64, ElfKind::Shared);
//! let offset = file.append(&[0xe2, 0xde], 8);
//! let header = SectionHeader { sh_type: SHT_GNU_SFRAME, flags: SHF_ALLOC, offset, size: 2, ..SectionHeader::default() };
//! let index = file.section(".sframe", header);
//! let bytes = file.finish()?;
//! let elf = Elf::parse(&bytes)?;
//! assert_eq!(elf.section_data(elf.section(index).expect("it is there"))?, [0xe2, 0xde]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod claims;
mod minimal;

pub use minimal::{Image, Object};

use alloc::vec::Vec;
use core::fmt;

use object::Endianness;
use object::elf;
use object::write::elf::{Encoder, FileHeader, FileHeaderLayout, ProgramHeader, Rel, Sym};
use object::write::{StringId, StringTable};

use crate::abi::{Abi, Endian};
use crate::elf::{
    Class, EM_AARCH64, EM_S390, EM_X86_64, ElfKind, SHF_INFO_LINK, SHT_RELA, SHT_STRTAB,
    SHT_SYMTAB, Segment,
};

/// `p_align` of all program headers.
const SEGMENT_ALIGNMENT: u64 = 8;

/// An ELF file being written: the file header, contents in the order in which they are added, `.shstrtab`, program
/// headers, and section headers.
#[derive(Clone, Debug)]
pub struct ElfWriter<'a> {
    encoder: Encoder<Endianness>,
    header: FileHeader,
    bytes: Vec<u8>,
    /// The number of program headers that fit after the file header.
    room: usize,
    segments: Vec<Segment>,
    /// Names and headers, excluding the null section's.
    sections: Vec<(&'a str, SectionHeader)>,
}

/// A section header (gABI, "Section Header").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SectionHeader {
    /// `sh_name`; [`ElfWriter::section`] sets it to the offset of the name.
    pub name: u32,
    /// `sh_type`.
    pub sh_type: u32,
    /// `sh_flags`.
    pub flags: u64,
    /// `sh_addr`.
    pub address: u64,
    /// `sh_offset`.
    pub offset: u64,
    /// `sh_size`.
    pub size: u64,
    /// `sh_link`.
    pub link: u32,
    /// `sh_info`.
    pub info: u32,
    /// `sh_addralign`.
    pub alignment: u64,
    /// `sh_entsize`.
    pub entry_size: u64,
}

/// A symbol (gABI, "Symbol Table").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol<'a> {
    /// The name. An empty name is not stored.
    pub name: &'a str,
    /// `st_info`.
    pub info: u8,
    /// `st_shndx`.
    pub section: u16,
    /// `st_value`.
    pub value: u64,
    /// `st_size`.
    pub size: u64,
}

/// A relocation with an addend (gABI, "Relocation").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// `r_offset`.
    pub offset: u64,
    /// The index of the symbol.
    pub symbol: u32,
    /// The type's number, whose meaning depends on the machine.
    pub kind: u32,
    /// `r_addend`.
    pub addend: i64,
}

/// The error for a file with more sections, names or bytes than its fields can count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

impl core::error::Error for TooLarge {}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the file is too large for ELF's fields")
    }
}

impl<'a> ElfWriter<'a> {
    /// A 64-bit file for the ABI's machine, in its byte order.
    #[must_use]
    pub fn new(abi: Abi, kind: ElfKind) -> ElfWriter<'a> {
        ElfWriter::of_class(Class::Elf64, abi, kind)
    }

    /// A file of either class for the ABI's machine, in its byte order.
    #[must_use]
    pub fn of_class(class: Class, abi: Abi, kind: ElfKind) -> ElfWriter<'a> {
        let endian = match abi.endian() {
            Endian::Little => Endianness::Little,
            Endian::Big => Endianness::Big,
        };
        let machine = elf::Machine(match abi {
            Abi::Amd64 => EM_X86_64,
            Abi::S390x => EM_S390,
            Abi::Aarch64Big | Abi::Aarch64Little => EM_AARCH64,
        });
        let e_type = elf::FileType(match kind {
            ElfKind::Relocatable => 1,
            ElfKind::Executable => 2,
            ElfKind::Shared => 3,
            ElfKind::Core => 4,
            ElfKind::Other(number) => number,
        });
        let encoder = Encoder::new(endian, class == Class::Elf64, machine);
        let mut bytes = Vec::new();
        grow(&mut bytes, encoder.file_header_size());
        ElfWriter {
            encoder,
            header: FileHeader { e_type, e_machine: machine, ..FileHeader::default() },
            bytes,
            room: 0,
            segments: Vec::new(),
            sections: Vec::new(),
        }
    }

    /// Reserves space for `count` program headers, before any contents are added. Otherwise, or if there are more
    /// program headers, they follow the contents.
    pub fn reserve_segments(&mut self, count: usize) {
        self.room = count;
        let size = self.encoder.program_header_size() * count as u64;
        grow(&mut self.bytes, self.encoder.file_header_size() + size);
    }

    /// Adds contents at the next multiple of `alignment`, and returns their file offset.
    pub fn append(&mut self, contents: &[u8], alignment: u64) -> u64 {
        let offset = (self.bytes.len() as u64).next_multiple_of(alignment.max(1));
        self.place(offset, contents);
        offset
    }

    /// Writes contents at a file offset, over any existing bytes. The file grows if necessary.
    pub fn place(&mut self, offset: u64, contents: &[u8]) {
        grow(&mut self.bytes, offset.saturating_add(contents.len() as u64));
        overwrite(&mut self.bytes, offset, contents);
    }

    /// Adds a section header, and returns its index. A name ends at its first NUL byte, as in the file.
    pub fn section(&mut self, name: &'a str, header: SectionHeader) -> u32 {
        self.sections.push((name, header));
        u32::try_from(self.sections.len()).unwrap_or(u32::MAX)
    }

    /// Adds contents and their section header, sets its offset and size, and returns its index. The contents are
    /// aligned as the header specifies.
    pub fn section_of(&mut self, name: &'a str, contents: &[u8], header: SectionHeader) -> u32 {
        let offset = self.append(contents, header.alignment);
        self.section(name, SectionHeader { offset, size: contents.len() as u64, ..header })
    }

    /// Adds a program header with an alignment of 8, whose physical address equals its virtual one.
    pub fn segment(&mut self, segment: Segment) {
        self.segments.push(segment);
    }

    /// Adds `.symtab` and `.strtab`, and returns the index of the former. The null symbol is added before the given
    /// symbols, of which local ones must come first.
    ///
    /// # Errors
    /// [`TooLarge`].
    pub fn symbols(&mut self, symbols: &[Symbol<'a>]) -> Result<u32, TooLarge> {
        let mut names = StringTable::new_in_order(1);
        let mut table = Vec::new();
        self.encoder.null_symbol(&mut table);
        for symbol in symbols {
            let st_name = add(&mut names, symbol.name).map_or(0, |name| names.get_offset(name));
            self.encoder.symbol(
                &mut table,
                &Sym {
                    section: None,
                    st_name,
                    st_info: elf::SymbolInfo(symbol.info),
                    st_other: elf::SymbolOther(0),
                    st_shndx: elf::SymbolSection(symbol.section),
                    st_value: symbol.value,
                    st_size: symbol.size,
                },
            );
        }
        let mut strings = Vec::new();
        self.encoder.strtab(&mut strings, &mut names).map_err(|_| TooLarge)?;
        let locals = symbols.iter().take_while(|symbol| symbol.info >> 4 == 0).count();
        let first_global = u32::try_from(locals + 1).map_err(|_| TooLarge)?;
        let header = SectionHeader {
            sh_type: SHT_SYMTAB,
            link: self.next_index() + 1,
            info: first_global,
            alignment: self.encoder.address_size(),
            entry_size: self.encoder.sym_size(),
            ..SectionHeader::default()
        };
        let index = self.section_of(".symtab", &table, header);
        let header =
            SectionHeader { sh_type: SHT_STRTAB, alignment: 1, ..SectionHeader::default() };
        self.section_of(".strtab", &strings, header);
        Ok(index)
    }

    /// Adds a section of relocations that apply to section `target` and refer to the symbols of section `symbols`.
    pub fn relocations(
        &mut self,
        name: &'a str,
        (target, symbols): (u32, u32),
        relocations: &[Relocation],
    ) -> u32 {
        let mut table = Vec::new();
        for relocation in relocations {
            let relocation = Rel {
                r_offset: relocation.offset,
                r_sym: relocation.symbol,
                r_type: elf::RelocationType(relocation.kind),
                r_addend: relocation.addend,
            };
            self.encoder.relocation(&mut table, true, &relocation);
        }
        let header = SectionHeader {
            sh_type: SHT_RELA,
            flags: SHF_INFO_LINK,
            link: symbols,
            info: target,
            alignment: self.encoder.address_size(),
            entry_size: self.encoder.rel_size(true),
            ..SectionHeader::default()
        };
        self.section_of(name, &table, header)
    }

    /// The index that the next section header will have.
    #[must_use]
    pub fn next_index(&self) -> u32 {
        u32::try_from(self.sections.len() + 1).unwrap_or(u32::MAX)
    }

    /// The file's bytes. Numbers of sections and segments that do not fit in the file header are stored in the null
    /// section's header (gABI, "ELF Header").
    ///
    /// # Errors
    /// [`TooLarge`].
    pub fn finish(mut self) -> Result<Vec<u8>, TooLarge> {
        let mut names = StringTable::new_in_order(1);
        for (name, header) in &mut self.sections {
            header.name = add(&mut names, name).map_or(0, |name| names.get_offset(name));
        }
        let own = names.add(b".shstrtab");
        let own = names.get_offset(own);
        let mut strings = Vec::new();
        self.encoder.strtab(&mut strings, &mut names).map_err(|_| TooLarge)?;
        let header = SectionHeader {
            sh_type: SHT_STRTAB,
            offset: self.append(&strings, self.encoder.address_size()),
            size: strings.len() as u64,
            alignment: 1,
            ..SectionHeader::default()
        };
        self.sections.push((".shstrtab", SectionHeader { name: own, ..header }));
        let last = u32::try_from(self.sections.len()).map_err(|_| TooLarge)?;
        let mut layout = FileHeaderLayout {
            segment_num: u32::try_from(self.segments.len()).map_err(|_| TooLarge)?,
            section_num: last.checked_add(1).ok_or(TooLarge)?,
            shstrtab_index: last,
            ..FileHeaderLayout::default()
        };
        layout.e_phoff = self.write_segments();
        layout.e_shoff = self.write_sections(&layout);
        let mut header = Vec::new();
        self.encoder.file_header(&mut header, &self.header, &layout).map_err(|_| TooLarge)?;
        overwrite(&mut self.bytes, 0, &header);
        let in_range = self.encoder.is_64() || u32::try_from(self.bytes.len()).is_ok();
        in_range.then_some(self.bytes).ok_or(TooLarge)
    }

    /// Writes the program headers, and returns their file offset, or 0 if there are none.
    fn write_segments(&mut self) -> u64 {
        let mut table = Vec::new();
        for segment in &self.segments {
            let header = ProgramHeader {
                p_type: elf::ProgramType(segment.p_type),
                p_flags: elf::ProgramFlags(segment.flags),
                p_offset: segment.offset,
                p_vaddr: segment.address,
                p_paddr: segment.address,
                p_filesz: segment.file_size,
                p_memsz: segment.memory_size,
                p_align: SEGMENT_ALIGNMENT,
            };
            self.encoder.program_header(&mut table, &header);
        }
        if self.segments.is_empty() {
            0
        } else if self.segments.len() > self.room {
            self.append(&table, self.encoder.address_size())
        } else {
            let offset = self.encoder.file_header_size();
            self.place(offset, &table);
            offset
        }
    }

    /// Writes the section headers, and returns their file offset.
    fn write_sections(&mut self, layout: &FileHeaderLayout) -> u64 {
        let mut table = Vec::new();
        self.encoder.null_section_header(&mut table, layout);
        for (_, header) in &self.sections {
            self.encoder.section_header(&mut table, &header.encoded());
        }
        self.append(&table, self.encoder.address_size())
    }
}

impl SectionHeader {
    const fn encoded(&self) -> object::write::elf::SectionHeader {
        object::write::elf::SectionHeader {
            sh_name: self.name,
            sh_type: elf::SectionType(self.sh_type),
            sh_flags: elf::SectionFlags(self.flags),
            sh_addr: self.address,
            sh_offset: self.offset,
            sh_size: self.size,
            sh_link: self.link,
            sh_info: self.info,
            sh_addralign: self.alignment,
            sh_entsize: self.entry_size,
        }
    }
}

/// Adds a name up to its first NUL byte. Returns `None` for an empty name, whose offset is 0 in every table.
fn add<'a>(names: &mut StringTable<'a>, name: &'a str) -> Option<StringId> {
    let name = name.split('\0').next().filter(|name| !name.is_empty())?;
    Some(names.add(name.as_bytes()))
}

/// Extends `bytes` to at least `size` bytes.
fn grow(bytes: &mut Vec<u8>, size: u64) {
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    bytes.resize(bytes.len().max(size), 0);
}

fn overwrite(bytes: &mut [u8], offset: u64, new: &[u8]) {
    let offset = usize::try_from(offset).unwrap_or(usize::MAX);
    for (byte, new) in bytes.iter_mut().skip(offset).zip(new) {
        *byte = *new;
    }
}
