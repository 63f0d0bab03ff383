//! The ELF file around a section, as far as the rules and callers of the reader need it.
//!
//! [`Elf::parse`] reads the file, section and program headers into plain values. Symbols and relocations are read on
//! demand. [`Elf::sframe_contents`] leads from a file to its SFrame sections in one call.

mod code;
mod constants;
mod headers;
mod implied;
mod names;
mod numbers;
mod red_zone;
mod relocations;
mod replaced;
mod search_table;
mod sframe;
mod symbols;

pub use constants::{
    EM_386, EM_AARCH64, EM_S390, EM_X86_64, PF_R, PF_W, PF_X, PT_DYNAMIC, PT_GNU_EH_FRAME,
    PT_GNU_SFRAME, PT_INTERP, PT_LOAD, PT_NOTE, PT_PHDR, SHF_ALLOC, SHF_COMPRESSED, SHF_EXECINSTR,
    SHF_GROUP, SHF_INFO_LINK, SHF_WRITE, SHT_CREL, SHT_DYNAMIC, SHT_DYNSYM, SHT_FINI_ARRAY,
    SHT_GNU_HASH, SHT_GNU_SFRAME, SHT_GNU_VERSYM, SHT_GROUP, SHT_HASH, SHT_INIT_ARRAY, SHT_NOBITS,
    SHT_NOTE, SHT_PROGBITS, SHT_REL, SHT_RELA, SHT_RELR, SHT_STRTAB, SHT_SYMTAB, SHT_SYMTAB_SHNDX,
};
pub use headers::SectionHeaders;
pub use relocations::{Relocation, RelocationTable};
pub use replaced::ReplacedCode;
pub use search_table::{SearchEntry, SearchTable, SearchTableError};
pub use sframe::SframeSection;
pub use symbols::{CodeNames, NamedCode, Symbol, SymbolTable};

use alloc::vec::Vec;
use core::fmt;

use object::Endianness;
use object::elf;
use object::read::StringTable;
use object::read::elf::{FileHeader, ProgramHeader, SectionTable};

use crate::abi::{Abi, Endian};
use crate::text::Text;
use code::AddressIndex;
use headers::Headers;
use implied::Format;
use names::{Names, section_names};
use numbers::Numbers;
use relocations::RelocationIndex;
use replaced::ReplacedSections;
use sframe::SframeSections;

/// A parsed ELF file.
#[derive(Clone, Debug)]
pub struct Elf<'a> {
    data: &'a [u8],
    class: Class,
    endian: Endian,
    machine: u16,
    entry: u64,
    kind: ElfKind,
    sections: Vec<ElfSection<'a>>,
    headers: Headers,
    segments: Vec<Segment>,
    sframe: SframeSections,
    relocating: RelocationIndex,
    /// Those with code.
    code: AddressIndex,
    /// Those that are loaded and have bytes in the file.
    loaded: AddressIndex,
    /// Those with code that nothing executes any longer.
    replaced: ReplacedSections,
    has_red_zone: bool,
}

/// `EI_CLASS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// `ELFCLASS32`.
    Elf32,
    /// `ELFCLASS64`.
    Elf64,
}

/// `e_type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElfKind {
    /// `ET_REL`: start fields have relocations, and nothing has an address.
    Relocatable,
    /// `ET_EXEC`.
    Executable,
    /// `ET_DYN`: shared libraries and position-independent executables.
    Shared,
    /// `ET_CORE`: the memory of a process.
    Core,
    /// Any other type, by number.
    Other(u16),
}

/// A section header.
#[derive(Clone, Copy, Debug)]
pub struct ElfSection<'a> {
    /// The index in the section header table.
    pub index: u32,
    /// The name; empty if the string table does not contain it.
    pub name: Text<'a>,
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

/// A program header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// `p_type`.
    pub p_type: u32,
    /// `p_flags`.
    pub flags: u32,
    /// `p_offset`.
    pub offset: u64,
    /// `p_vaddr`.
    pub address: u64,
    /// `p_filesz`.
    pub file_size: u64,
    /// `p_memsz`.
    pub memory_size: u64,
}

/// Why bytes cannot be read as an ELF file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ElfError {
    /// The magic number is missing.
    NotElf,
    /// The class, byte order or ELF version is unknown.
    UnknownIdent,
    /// A header or table contradicts itself or the file's size.
    Malformed(object::read::Error),
    /// Headers refer to the same bytes so often that the sum of the sizes they state exceeds the file's size.
    SharedBytes,
    /// The bytes of a section are not in the file.
    SectionOutsideFile {
        /// Index of the section.
        index: u32,
        /// Its `sh_offset`.
        offset: u64,
        /// Its `sh_size`.
        size: u64,
    },
}

impl core::error::Error for ElfError {}

impl fmt::Display for ElfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ElfError::NotElf => f.write_str("not an ELF file"),
            ElfError::UnknownIdent => {
                f.write_str("unknown ELF class, byte order or version in e_ident")
            }
            ElfError::Malformed(what) => what.fmt(f),
            ElfError::SharedBytes => f.write_str(
                "the tables to which headers lead overlap, and together they are too long",
            ),
            ElfError::SectionOutsideFile { index, offset, size } => write!(
                f,
                "section {index} at file offset {offset:#x}, {size:#x} bytes, ends outside the file"
            ),
        }
    }
}

impl From<object::read::Error> for ElfError {
    fn from(error: object::read::Error) -> ElfError {
        ElfError::Malformed(error)
    }
}

impl<'a> Elf<'a> {
    /// Whether `data` starts with the ELF magic number.
    #[must_use]
    pub fn is_elf(data: &[u8]) -> bool {
        data.starts_with(&elf::ELFMAG)
    }

    /// Reads the headers of an ELF file of either class and byte order.
    ///
    /// # Errors
    /// [`ElfError::NotElf`], [`ElfError::UnknownIdent`], [`ElfError::Malformed`].
    pub fn parse(data: &'a [u8]) -> Result<Elf<'a>, ElfError> {
        if !Elf::is_elf(data) {
            return Err(ElfError::NotElf);
        }
        match data.get(4) {
            Some(1) => Elf::read::<elf::FileHeader32<Endianness>>(data, Class::Elf32),
            Some(2) => Elf::read::<elf::FileHeader64<Endianness>>(data, Class::Elf64),
            _ => Err(ElfError::UnknownIdent),
        }
    }

    fn read<Header>(data: &'a [u8], class: Class) -> Result<Elf<'a>, ElfError>
    where
        Header: FileHeader<Endian = Endianness>,
    {
        let header = Header::parse(data).map_err(|_| ElfError::UnknownIdent)?;
        let order = header.endian()?;
        let table = header.program_headers(order, data);
        if table.is_err() {
            // Of two errors, the one in the section headers is reported.
            section_table(header, order, data)?;
        }
        let mut segments: Vec<Segment> = table?
            .iter()
            .map(|segment| Segment {
                p_type: segment.p_type(order).0,
                flags: segment.p_flags(order).0,
                offset: segment.p_offset(order).into(),
                address: segment.p_vaddr(order).into(),
                file_size: segment.p_filesz(order).into(),
                memory_size: segment.p_memsz(order).into(),
            })
            .collect();
        let kind = match header.e_type(order).0 {
            1 => ElfKind::Relocatable,
            2 => ElfKind::Executable,
            3 => ElfKind::Shared,
            4 => ElfKind::Core,
            other => ElfKind::Other(other),
        };
        let endian = if header.is_big_endian() { Endian::Big } else { Endian::Little };
        let machine = header.e_machine(order).0;
        let size = u64::from(header.e_phentsize(order)).saturating_mul(segments.len() as u64);
        let format = Format {
            numbers: Numbers { class, endian },
            machine,
            headers: (header.e_phoff(order).into(), size),
        };
        let (headers, sections) =
            Headers::read((header, order, data), kind, &mut segments, format)?;
        let mut elf = Elf {
            data,
            headers,
            sframe: SframeSections::of(&sections, &segments),
            relocating: RelocationIndex::of(&sections),
            code: AddressIndex::default(),
            loaded: AddressIndex::default(),
            replaced: ReplacedSections::default(),
            has_red_zone: true,
            class,
            endian,
            machine,
            entry: header.e_entry(order).into(),
            kind,
            sections,
            segments,
        };
        elf.has_red_zone = !elf.is_kernel();
        elf.replaced = ReplacedSections::of(&elf);
        elf.code = AddressIndex::of(elf.code_sections());
        if elf.kind != ElfKind::Relocatable {
            let has_bytes = |it: &&ElfSection<'_>| it.is_loaded() && elf.section_data(it).is_ok();
            elf.loaded = AddressIndex::of(elf.sections.iter().filter(has_bytes));
        }
        Ok(elf)
    }

    /// The file's bytes.
    #[must_use]
    pub const fn data(&self) -> &'a [u8] {
        self.data
    }

    /// The file's class.
    #[must_use]
    pub const fn class(&self) -> Class {
        self.class
    }

    /// The file's byte order.
    #[must_use]
    pub const fn endian(&self) -> Endian {
        self.endian
    }

    /// `e_entry`: the address where the program starts; 0 if there is none.
    #[must_use]
    pub const fn entry(&self) -> u64 {
        self.entry
    }

    /// `e_machine`.
    #[must_use]
    pub const fn machine(&self) -> u16 {
        self.machine
    }

    /// The kind of file, from `e_type`.
    #[must_use]
    pub const fn kind(&self) -> ElfKind {
        self.kind
    }

    /// Whether the file is made for a dynamic linker.
    #[must_use]
    pub fn is_dynamic(&self) -> bool {
        self.segments().iter().any(|segment| matches!(segment.p_type, PT_DYNAMIC | PT_INTERP))
    }

    /// The SFrame ABI that corresponds to the file's machine and byte order; `None` for machines that SFrame is not
    /// defined for.
    #[must_use]
    pub const fn abi(&self) -> Option<Abi> {
        match (self.machine, self.endian) {
            (EM_X86_64, Endian::Little) => Some(Abi::Amd64),
            (EM_AARCH64, Endian::Little) => Some(Abi::Aarch64Little),
            (EM_AARCH64, Endian::Big) => Some(Abi::Aarch64Big),
            (EM_S390, Endian::Big) => Some(Abi::S390x),
            _ => None,
        }
    }

    /// The section headers, in the table's order, including the null section. In a linked file without usable ones
    /// ([`Elf::section_headers`]), these are made from the program headers.
    #[must_use]
    pub fn sections(&self) -> &[ElfSection<'a>] {
        &self.sections
    }

    /// The program headers, in the table's order. In an image of memory without usable section headers, their offsets are
    /// those in the image.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The section with an index.
    #[must_use]
    pub fn section(&self, index: u32) -> Option<&ElfSection<'a>> {
        self.sections.get(usize::try_from(index).ok()?)
    }

    /// The places of the untyped symbols that are defined in a section, in order: offsets in a relocatable object, else
    /// addresses. Assemblers define such symbols for labels.
    ///
    /// # Errors
    /// [`ElfError::Malformed`].
    pub fn labels_in(&self, section: u32) -> Result<Vec<u64>, ElfError> {
        symbols::labels(self, section)
    }

    /// The bytes of a section; empty for a section without bytes in the file (`SHT_NOBITS`).
    ///
    /// # Errors
    /// [`ElfError::SectionOutsideFile`].
    pub fn section_data(&self, section: &ElfSection<'_>) -> Result<&'a [u8], ElfError> {
        if section.sh_type == SHT_NOBITS {
            return Ok(&[]);
        }
        let range = || {
            let start = usize::try_from(section.offset).ok()?;
            let end = start.checked_add(usize::try_from(section.size).ok()?)?;
            self.data.get(start..end)
        };
        range().ok_or(ElfError::SectionOutsideFile {
            index: section.index,
            offset: section.offset,
            size: section.size,
        })
    }
}

impl ElfSection<'_> {
    /// Whether the section's flags say that it is loaded and executable.
    #[must_use]
    pub const fn is_executable(&self) -> bool {
        let wanted = SHF_ALLOC | SHF_EXECINSTR;
        self.flags & wanted == wanted
    }

    /// Whether the section is loaded and has bytes in the file.
    #[must_use]
    pub const fn is_loaded(&self) -> bool {
        self.flags & SHF_ALLOC != 0 && self.sh_type != SHT_NOBITS
    }

    /// Whether the section's name says that it contains a linker's stubs.
    #[must_use]
    pub fn is_stubs(&self) -> bool {
        matches!(self.name.bytes(), b".plt" | b".plt.sec" | b".plt.got" | b".iplt")
    }

    /// Whether all addresses in `[start, start + size)` are in the section.
    #[must_use]
    pub fn contains(&self, start: u64, size: u64) -> bool {
        contains(self.address, self.size, start, size)
    }
}

impl Segment {
    /// Whether all addresses in `[start, start + size)` are in the segment.
    #[must_use]
    pub fn contains(&self, start: u64, size: u64) -> bool {
        contains(self.address, self.memory_size, start, size)
    }

    /// Whether the segment loads all bytes of the section from their place in the file.
    #[must_use]
    pub fn loads(&self, section: &ElfSection<'_>) -> bool {
        let here = section.address.wrapping_sub(self.address);
        contains(self.address, self.file_size, section.address, section.size)
            && section.offset.wrapping_sub(self.offset) == here
    }
}

/// The section headers, even if the sections have no names.
fn section_table<'a, Header: FileHeader>(
    header: &Header,
    order: Header::Endian,
    data: &'a [u8],
) -> Result<SectionTable<'a, Header>, ElfError> {
    let sections = header.section_headers(order, data)?;
    Ok(SectionTable::new(sections, StringTable::default()))
}

fn contains(outer: u64, outer_size: u64, start: u64, size: u64) -> bool {
    start
        .checked_sub(outer)
        .and_then(|before| outer_size.checked_sub(before))
        .is_some_and(|left| size <= left)
}
