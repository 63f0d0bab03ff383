//! Relocations: those of a section in a relocatable object, and the dynamic ones of a linked file.

use alloc::vec::Vec;

use object::Endianness;
use object::elf::{self, FileHeader64};
use object::read::SectionIndex;
use object::read::elf::{FileHeader, Rela, SectionHeader, SectionTable, Sym, SymbolTable};

use super::{Class, Elf, ElfError, SHF_ALLOC, SHT_NOBITS};
use crate::section::{CodeAddress, StartRelocation};

const SHT_RELA: u32 = 4;
const SHT_REL: u32 = 9;
const SHT_RELR: u32 = 19;
/// `R_X86_64_NONE`, `R_AARCH64_NONE`, `R_390_NONE`: 0 on every machine SFrame is defined for, and
/// what `ld -r` writes over a relocation it discards.
const R_NONE: u32 = 0;

/// One relocation with an addend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// `r_offset`: bytes from the start of the relocated section.
    pub offset: u64,
    /// The type's number; its meaning is the machine's.
    pub kind: u32,
    /// `r_addend`.
    pub addend: i64,
    /// The symbol's section and value, `None` where the symbol is undefined or missing.
    pub symbol: Option<CodeAddress>,
}

impl Relocation {
    /// Whether it is `R_*_NONE`.
    #[must_use]
    pub const fn is_none(&self) -> bool {
        self.kind == R_NONE
    }

    /// `S + A`: the symbol's place plus the addend.
    #[must_use]
    pub fn target(&self) -> Option<CodeAddress> {
        let symbol = self.symbol.filter(|_| !self.is_none())?;
        let address = symbol.address.wrapping_add(self.addend.cast_unsigned());
        Some(CodeAddress { section: symbol.section, address })
    }
}

/// The relocations of one section of a relocatable object.
#[derive(Clone, Debug, Default)]
pub struct RelocationTable {
    /// In the order of the file.
    pub relocations: Vec<Relocation>,
    /// Number of relocations without an addend (`SHT_REL`), which no SFrame producer writes.
    pub without_addend: u64,
}

impl RelocationTable {
    /// Reads the relocations that apply to section `target`.
    ///
    /// # Errors
    /// [`ElfError::Malformed`].
    pub fn load(file: &Elf<'_>, target: u32) -> Result<RelocationTable, ElfError> {
        let mut table = RelocationTable::default();
        if file.class == Class::Elf32 {
            return Ok(table);
        }
        let header = FileHeader64::<Endianness>::parse(file.data)?;
        let order = header.endian()?;
        let sections = header.sections(order, file.data)?;
        let relocating = sections.iter().filter(|section| section.sh_info(order) == target);
        for section in relocating {
            match section.sh_type(order).0 {
                SHT_RELA => {
                    let Some((entries, link)) = section.rela(order, file.data)? else { continue };
                    let symbols = symbols(&sections, link, order, file.data)?;
                    table.relocations.reserve_exact(entries.len());
                    let read = entries.iter().map(|entry| relocation(entry, &symbols, order));
                    table.relocations.extend(read);
                }
                SHT_REL => {
                    let entry = size_of::<elf::Rel64<Endianness>>() as u64;
                    table.without_addend += section.sh_size(order) / entry;
                }
                _ => {}
            }
        }
        Ok(table)
    }

    /// The relocations as the reader wants them, ordered by field offset.
    #[must_use]
    pub fn starts(&self) -> Vec<StartRelocation> {
        let mut starts: Vec<_> = self
            .relocations
            .iter()
            .map(|r| StartRelocation { field_offset: r.offset, target: r.target() })
            .collect();
        starts.sort_by_key(|start| start.field_offset);
        starts
    }
}

type Symbols<'a> = SymbolTable<'a, FileHeader64<Endianness>>;

fn symbols<'a>(
    sections: &SectionTable<'a, FileHeader64<Endianness>>,
    link: SectionIndex,
    order: Endianness,
    data: &'a [u8],
) -> Result<Symbols<'a>, ElfError> {
    let section = sections.section(link)?;
    Ok(section.symbols(order, data, sections, link)?.unwrap_or_default())
}

fn relocation(
    entry: &elf::Rela64<Endianness>,
    symbols: &Symbols<'_>,
    order: Endianness,
) -> Relocation {
    let symbol = entry.symbol(order, false).and_then(|index| {
        let symbol = symbols.symbol(index).ok()?;
        let section = symbols.symbol_section(order, symbol, index).ok()??;
        let section = u32::try_from(section.0).ok()?;
        Some(CodeAddress { section, address: symbol.st_value(order) })
    });
    Relocation {
        offset: entry.r_offset(order),
        kind: entry.r_type(order, false).0,
        addend: entry.r_addend(order),
        symbol,
    }
}

impl Elf<'_> {
    /// The address of the first dynamic relocation that lies in `[start, start + size)` of a
    /// linked file.
    ///
    /// # Errors
    /// [`ElfError::Malformed`].
    pub fn dynamic_relocation_in(&self, start: u64, size: u64) -> Result<Option<u64>, ElfError> {
        if self.class == Class::Elf32 {
            return Ok(None);
        }
        let inside = |offset: &u64| offset.wrapping_sub(start) < size;
        let header = FileHeader64::<Endianness>::parse(self.data)?;
        let order = header.endian()?;
        let sections = header.sections(order, self.data)?;
        for section in sections.iter() {
            let loaded = section.sh_flags(order).0 & SHF_ALLOC != 0;
            if !loaded || section.sh_type(order).0 == SHT_NOBITS {
                continue;
            }
            let found = match section.sh_type(order).0 {
                SHT_RELA => section.rela(order, self.data)?.and_then(|(entries, _)| {
                    entries.iter().map(|entry| entry.r_offset(order)).find(inside)
                }),
                SHT_RELR => section.relr(order, self.data)?.and_then(|mut e| e.find(inside)),
                _ => None,
            };
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }
}
