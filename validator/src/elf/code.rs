//! The places of a file's machine code, and its bytes.

use alloc::vec::Vec;
use core::ops::Range;

use super::{
    Elf, ElfKind, ElfSection, PF_X, PT_LOAD, SHF_ALLOC, SHT_NOBITS, SHT_SYMTAB, SectionHeaders,
    Segment,
};
use crate::unwind::CodeAddress;

/// Sections of a linked file, by address. If a section overlaps an earlier one, only the rest of its range is listed, so
/// that every address is in at most one section.
#[derive(Clone, Debug, Default)]
pub(super) struct AddressIndex {
    parts: Vec<Part>,
}

/// The range `[start, end)` is in the section with this index.
#[derive(Clone, Copy, Debug)]
struct Part {
    start: u64,
    end: u64,
    section: u32,
}

impl AddressIndex {
    pub(super) fn of<'s, 'a: 's>(
        sections: impl Iterator<Item = &'s ElfSection<'a>>,
    ) -> AddressIndex {
        let mut parts: Vec<Part> = sections
            .map(|section| Part {
                start: section.address,
                end: section.address.saturating_add(section.size),
                section: section.index,
            })
            .collect();
        parts.sort_by_key(|part| (part.start, part.section));
        let mut covered = 0;
        parts.retain_mut(|part| {
            part.start = part.start.max(covered);
            covered = part.end.max(covered);
            part.start < part.end
        });
        AddressIndex { parts }
    }

    /// Whether a section has any of the addresses from `start` to `end`.
    fn overlaps(&self, start: u64, end: u64) -> bool {
        let after = self.parts.partition_point(|part| part.end <= start);
        self.parts.get(after).is_some_and(|part| part.start < end)
    }

    /// The index of the section that contains the address.
    pub(super) fn find(&self, address: u64) -> Option<u32> {
        let after = self.parts.partition_point(|part| part.start <= address);
        let part = self.parts.get(after.checked_sub(1)?)?;
        (address < part.end).then_some(part.section)
    }
}

impl<'a> Elf<'a> {
    /// Whether the section contains machine code: it is executable, and its bytes are in the file. Without such bytes,
    /// nothing limits the size that the header states. Code that was replaced as a whole is not executed
    /// ([`Elf::replaced_code`]).
    #[must_use]
    pub fn is_code(&self, section: &ElfSection<'_>) -> bool {
        section.is_executable()
            && !self.is_replaced(section)
            && section.sh_type != SHT_NOBITS
            && self.has_bytes(section.offset, section.size)
    }

    /// Sections that [contain machine code](Elf::is_code).
    pub fn code_sections(&self) -> impl Iterator<Item = &ElfSection<'a>> {
        self.sections.iter().filter(|section| self.is_code(section))
    }

    /// The sections whose code the file should contain and does not: their bytes end after the file's end, or no section has code,
    /// and they have the type `SHT_NOBITS`. None in a file of debug data, whose code is in another file.
    pub fn missing_code(&self) -> impl Iterator<Item = &ElfSection<'a>> {
        let is_apart = self.code_sections().next().is_some() || self.has_debug_data();
        self.sections.iter().filter(move |section| {
            let is_wanted = section.sh_type != SHT_NOBITS || !is_apart;
            let is_executed = section.is_executable() && !self.is_replaced(section);
            is_executed && section.size > 0 && is_wanted && !self.is_code(section)
        })
    }

    /// Whether the file has a symbol table or debugging information, which `objcopy --only-keep-debug` keeps.
    fn has_debug_data(&self) -> bool {
        self.sections.iter().any(|section| {
            let name = section.name.bytes();
            section.sh_type == SHT_SYMTAB
                || name.starts_with(b".debug_")
                || name.starts_with(b".zdebug_")
        })
    }

    /// The start and size of the file's machine code, in the order of the headers: its code sections.
    pub fn code(&self) -> impl Iterator<Item = (CodeAddress, u64)> {
        self.places(self.code_sections())
    }

    /// The places that may contain machine code once the file is loaded: those of [`Elf::code`], executable ones
    /// without bytes in the file, and code that was replaced. The sizes are those stated in the headers.
    pub fn executable(&self) -> impl Iterator<Item = (CodeAddress, u64)> {
        self.places(self.sections.iter().filter(|section| section.is_executable()))
    }

    fn places<'s>(
        &self,
        sections: impl Iterator<Item = &'s ElfSection<'a>>,
    ) -> impl Iterator<Item = (CodeAddress, u64)>
    where
        'a: 's,
    {
        sections.map(|section| (self.start_of(section), section.size))
    }

    /// The place at which a section starts.
    const fn start_of(&self, section: &ElfSection<'_>) -> CodeAddress {
        match self.kind {
            ElfKind::Relocatable => CodeAddress { section: section.index, address: 0 },
            _ => CodeAddress::absolute(section.address),
        }
    }

    /// The places in a section.
    pub(super) fn range_of(&self, section: &ElfSection<'_>) -> Range<CodeAddress> {
        let start = self.start_of(section);
        start..CodeAddress { address: start.address.saturating_add(section.size), ..start }
    }

    /// The executable segments with bytes in the file none of which is in a section, although the file has section headers:
    /// a program has added their code after the link.
    #[must_use]
    pub fn code_without_sections(&self) -> Vec<Segment> {
        let is_code = |segment: &&Segment| {
            segment.p_type == PT_LOAD && segment.flags & PF_X != 0 && segment.file_size > 0
        };
        let mut segments = self.segments.iter().filter(is_code).peekable();
        let is_linked = matches!(self.kind, ElfKind::Executable | ElfKind::Shared);
        let has_headers = is_linked && self.section_headers() == SectionHeaders::Listed;
        if !has_headers || segments.peek().is_none() {
            return Vec::new();
        }
        // In a file of debug data, the bytes of the sections are in another file, and segments are longer in memory.
        let sections = self.sections.iter().filter(|section| section.flags & SHF_ALLOC != 0);
        let sections = AddressIndex::of(sections);
        let has_section = |segment: &&Segment| {
            let size = segment.file_size.max(segment.memory_size);
            sections.overlaps(segment.address, segment.address.saturating_add(size))
        };
        segments.filter(|segment| !has_section(segment)).copied().collect()
    }

    /// Whether the file has `size` bytes at `offset`.
    fn has_bytes(&self, offset: u64, size: u64) -> bool {
        offset.checked_add(size).is_some_and(|end| end <= self.data.len() as u64)
    }

    /// The code section that contains a place.
    #[must_use]
    pub fn code_section_at(&self, place: CodeAddress) -> Option<&ElfSection<'a>> {
        match self.kind {
            ElfKind::Relocatable => {
                self.section(place.section).filter(|section| self.is_code(section))
            }
            _ => self.section(self.code.find(place.address)?),
        }
    }

    /// The loaded section of a linked file that contains an address and has bytes in the file; `None` for a relocatable
    /// object, whose sections have no addresses.
    #[must_use]
    pub fn loaded_section_at(&self, address: u64) -> Option<&ElfSection<'a>> {
        self.section(self.loaded.find(address)?)
    }

    /// The `size` bytes of machine code at `start`, or as many as its section has; `None` if no code section contains
    /// the place.
    #[must_use]
    pub fn code_bytes(&self, start: CodeAddress, size: u64) -> Option<&'a [u8]> {
        let section = self.code_section_at(start)?;
        let base = if self.kind == ElfKind::Relocatable { 0 } else { section.address };
        let from = usize::try_from(start.address.checked_sub(base)?).ok()?;
        let code = self.section_data(section).ok()?.get(from..)?;
        Some(code.get(..usize::try_from(size).ok()?).unwrap_or(code))
    }
}
