//! The 64-bit headers of ELF files, field by field. What is not changed is written as it was read.

use sframe_validator::Endian;
use sframe_validator::elf::Elf;

/// The bytes of a program header.
pub(super) const SEGMENT_HEADER: u64 = 56;
/// The bytes of a section header.
const SECTION_HEADER: u64 = 64;

/// The fields of the file header that a new section changes, or that tell where the tables are.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileHeader {
    pub(super) segments_offset: u64,
    pub(super) sections_offset: u64,
    segment_size: u16,
    pub(super) segments: u16,
    section_size: u16,
    pub(super) sections: u16,
    /// The index of the section with the sections' names.
    pub(super) names: u16,
}

/// A program header.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProgramHeader {
    pub(super) p_type: u32,
    pub(super) flags: u32,
    offset: u64,
    address: u64,
    physical: u64,
    file_size: u64,
    memory_size: u64,
    pub(super) alignment: u64,
}

/// A section header.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SectionHeader {
    pub(super) name: u32,
    pub(super) sh_type: u32,
    pub(super) flags: u64,
    pub(super) address: u64,
    pub(super) offset: u64,
    pub(super) size: u64,
    pub(super) link: u32,
    pub(super) info: u32,
    pub(super) alignment: u64,
    pub(super) entry_size: u64,
}

impl FileHeader {
    pub(super) fn read(data: &[u8], endian: Endian) -> Option<FileHeader> {
        let mut rest = Reader { data: data.get(32..64)?, endian };
        let (segments_offset, sections_offset) = (rest.u64()?, rest.u64()?);
        // The flags and the header's own size.
        rest.skip(6)?;
        Some(FileHeader {
            segments_offset,
            sections_offset,
            segment_size: rest.u16()?,
            segments: rest.u16()?,
            section_size: rest.u16()?,
            sections: rest.u16()?,
            names: rest.u16()?,
        })
    }

    /// Whether the tables have headers of the usual sizes.
    pub(super) const fn has_usual_sizes(&self) -> bool {
        (self.segments == 0 || self.segment_size as u64 == SEGMENT_HEADER)
            && (self.sections == 0 || self.section_size as u64 == SECTION_HEADER)
    }

    /// Writes the fields that change.
    pub(super) fn write(&self, file: &mut [u8], endian: Endian) -> Option<()> {
        let mut put = |at: usize, bytes: &[u8]| {
            file.get_mut(at..at + bytes.len())?.copy_from_slice(bytes);
            Some(())
        };
        let number = |value: u64, size: usize| {
            let mut bytes = Vec::new();
            push(&mut bytes, endian, value, size);
            bytes
        };
        put(32, &number(self.segments_offset, 8))?;
        put(40, &number(self.sections_offset, 8))?;
        put(56, &number(self.segments.into(), 2))?;
        put(60, &number(self.sections.into(), 2))
    }

    pub(super) fn program_headers(&self, elf: &Elf<'_>) -> Option<Vec<ProgramHeader>> {
        let size = u64::from(self.segments) * SEGMENT_HEADER;
        let mut rest = Reader::at(elf, self.segments_offset, size)?;
        (0..self.segments).map(|_| ProgramHeader::read(&mut rest)).collect()
    }

    pub(super) fn section_headers(&self, elf: &Elf<'_>) -> Option<Vec<SectionHeader>> {
        let size = u64::from(self.sections) * SECTION_HEADER;
        let mut rest = Reader::at(elf, self.sections_offset, size)?;
        (0..self.sections).map(|_| SectionHeader::read(&mut rest)).collect()
    }
}

impl ProgramHeader {
    /// A header for no bytes.
    pub(super) fn new(p_type: u32, flags: u32, alignment: u64) -> ProgramHeader {
        ProgramHeader { p_type, flags, alignment, ..ProgramHeader::default() }
    }

    fn read(rest: &mut Reader<'_>) -> Option<ProgramHeader> {
        Some(ProgramHeader {
            p_type: rest.u32()?,
            flags: rest.u32()?,
            offset: rest.u64()?,
            address: rest.u64()?,
            physical: rest.u64()?,
            file_size: rest.u64()?,
            memory_size: rest.u64()?,
            alignment: rest.u64()?,
        })
    }

    /// The header for bytes at another place.
    pub(super) const fn at(self, offset: u64, address: u64, size: u64) -> ProgramHeader {
        let physical = address;
        ProgramHeader { offset, address, physical, file_size: size, memory_size: size, ..self }
    }

    /// Whether it has a physical address other than the virtual one. Some linkers write 0, and GNU objcopy 2.40 changes one of
    /// them by less than the alignment (observed).
    pub(super) const fn has_own_physical(&self) -> bool {
        self.physical != 0 && self.physical.abs_diff(self.address) >= self.alignment
    }

    pub(super) fn write(&self, file: &mut Vec<u8>, endian: Endian) {
        push(file, endian, self.p_type.into(), 4);
        push(file, endian, self.flags.into(), 4);
        let rest = [
            self.offset,
            self.address,
            self.physical,
            self.file_size,
            self.memory_size,
            self.alignment,
        ];
        rest.iter().for_each(|value| push(file, endian, *value, 8));
    }
}

impl SectionHeader {
    fn read(rest: &mut Reader<'_>) -> Option<SectionHeader> {
        Some(SectionHeader {
            name: rest.u32()?,
            sh_type: rest.u32()?,
            flags: rest.u64()?,
            address: rest.u64()?,
            offset: rest.u64()?,
            size: rest.u64()?,
            link: rest.u32()?,
            info: rest.u32()?,
            alignment: rest.u64()?,
            entry_size: rest.u64()?,
        })
    }

    pub(super) fn write(&self, file: &mut Vec<u8>, endian: Endian) {
        push(file, endian, self.name.into(), 4);
        push(file, endian, self.sh_type.into(), 4);
        for value in [self.flags, self.address, self.offset, self.size] {
            push(file, endian, value, 8);
        }
        push(file, endian, self.link.into(), 4);
        push(file, endian, self.info.into(), 4);
        push(file, endian, self.alignment, 8);
        push(file, endian, self.entry_size, 8);
    }
}

/// A symbol.
pub(super) struct Symbol {
    info: u8,
    /// The index of its section, or a number of `SHN_LORESERVE` or above, which no section has.
    pub(super) section: u16,
    pub(super) value: u64,
}

impl Symbol {
    /// The binding is `STB_LOCAL`.
    pub(super) const fn is_local(&self) -> bool {
        self.info >> 4 == 0
    }

    /// The type is `STT_SECTION`.
    pub(super) const fn is_section(&self) -> bool {
        self.info & 0xf == 3
    }

    /// The symbol of a section.
    pub(super) const fn of_section(section: u16) -> Symbol {
        Symbol { info: 3, section, value: 0 }
    }

    /// Writes it, without a name and a size.
    pub(super) fn write(&self, file: &mut Vec<u8>, endian: Endian) {
        push(file, endian, 0, 4);
        file.extend([self.info, 0]);
        push(file, endian, self.section.into(), 2);
        push(file, endian, self.value, 8);
        push(file, endian, 0, 8);
    }

    fn read(rest: &mut Reader<'_>) -> Option<Symbol> {
        rest.skip(4)?;
        let [info, _] = rest.bytes()?;
        let (section, value) = (rest.u16()?, rest.u64()?);
        rest.skip(8)?;
        Some(Symbol { info, section, value })
    }
}

/// The symbols of a table.
pub(super) fn symbols(table: &[u8], endian: Endian) -> impl Iterator<Item = Symbol> {
    let mut rest = Reader { data: table, endian };
    core::iter::from_fn(move || Symbol::read(&mut rest))
}

/// A relocation with an addend.
pub(super) struct Relocation {
    pub(super) offset: u64,
    pub(super) symbol: u32,
    pub(super) kind: u32,
    pub(super) addend: u64,
}

impl Relocation {
    pub(super) fn write(&self, file: &mut Vec<u8>, endian: Endian) {
        push(file, endian, self.offset, 8);
        push(file, endian, u64::from(self.symbol) << 32 | u64::from(self.kind), 8);
        push(file, endian, self.addend, 8);
    }
}

/// Reads numbers one after the other.
struct Reader<'a> {
    data: &'a [u8],
    endian: Endian,
}

impl<'a> Reader<'a> {
    fn at(elf: &Elf<'a>, offset: u64, size: u64) -> Option<Reader<'a>> {
        let end = usize::try_from(offset.checked_add(size)?).ok()?;
        let data = elf.data().get(usize::try_from(offset).ok()?..end)?;
        Some(Reader { data, endian: elf.endian() })
    }

    fn bytes<const SIZE: usize>(&mut self) -> Option<[u8; SIZE]> {
        let (first, rest) = self.data.split_first_chunk()?;
        self.data = rest;
        Some(*first)
    }

    fn skip(&mut self, size: usize) -> Option<()> {
        self.data = self.data.get(size..)?;
        Some(())
    }

    fn u16(&mut self) -> Option<u16> {
        let bytes = self.bytes()?;
        Some(match self.endian {
            Endian::Little => u16::from_le_bytes(bytes),
            Endian::Big => u16::from_be_bytes(bytes),
        })
    }

    fn u32(&mut self) -> Option<u32> {
        let bytes = self.bytes()?;
        Some(match self.endian {
            Endian::Little => u32::from_le_bytes(bytes),
            Endian::Big => u32::from_be_bytes(bytes),
        })
    }

    fn u64(&mut self) -> Option<u64> {
        let bytes = self.bytes()?;
        Some(match self.endian {
            Endian::Little => u64::from_le_bytes(bytes),
            Endian::Big => u64::from_be_bytes(bytes),
        })
    }
}

/// Appends the low `size` bytes of a number.
pub(super) fn push(bytes: &mut Vec<u8>, endian: Endian, value: u64, size: usize) {
    match endian {
        Endian::Little => bytes.extend(value.to_le_bytes().iter().take(size)),
        Endian::Big => bytes.extend(value.to_be_bytes().iter().skip(8_usize.saturating_sub(size))),
    }
}
