//! Relocations: those of a section in a relocatable object, and the dynamic ones of a linked file.

use alloc::vec::Vec;

use object::elf::{self, FileHeader64, Sym64};
use object::read::elf::{Crel, FileHeader, Rela, SectionHeader, SectionTable, Sym};
use object::read::{SectionIndex, SymbolIndex};
use object::{Endianness, U32};

use super::{
    Class, Elf, ElfError, ElfSection, SHF_ALLOC, SHT_CREL, SHT_REL, SHT_RELA, SHT_RELR,
    SHT_SYMTAB_SHNDX,
};
use crate::section::StartRelocation;
use crate::unwind::CodeAddress;

/// `R_X86_64_NONE`, `R_AARCH64_NONE`, `R_390_NONE`: 0 on every machine that SFrame is defined for. `ld -r` overwrites
/// relocations that it discards with it.
const R_NONE: u32 = 0;

/// A relocation with an addend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// `r_offset`: bytes from the start of the relocated section.
    pub offset: u64,
    /// The type's number, whose meaning depends on the machine.
    pub kind: u32,
    /// `r_addend`.
    pub addend: i64,
    /// The symbol's section and value; `None` if the symbol is undefined or missing.
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

/// The sections that contain relocations, and those that they need, found in one pass: an object may have a section for
/// each function.
#[derive(Clone, Debug, Default)]
pub(super) struct RelocationIndex {
    /// Pairs of the relocated section's index and the index of the section with the relocations, sorted.
    pairs: Vec<(u32, u32)>,
    /// Pairs of a symbol table's index and the index of its section with extended section numbers, sorted.
    extended: Vec<(u32, u32)>,
}

impl RelocationIndex {
    pub(super) fn of(sections: &[ElfSection<'_>]) -> RelocationIndex {
        let relocating = sections
            .iter()
            .filter(|section| matches!(section.sh_type, SHT_RELA | SHT_REL | SHT_CREL));
        let mut pairs: Vec<_> = relocating.map(|section| (section.info, section.index)).collect();
        pairs.sort_unstable();
        let extending = sections.iter().filter(|section| section.sh_type == SHT_SYMTAB_SHNDX);
        let mut extended: Vec<_> = extending.map(|section| (section.link, section.index)).collect();
        extended.sort_unstable();
        RelocationIndex { pairs, extended }
    }

    /// The sections with relocations for section `target`, in the table's order.
    fn of_target(&self, target: u32) -> impl Iterator<Item = SectionIndex> {
        let first = self.pairs.partition_point(|(relocated, _)| *relocated < target);
        let rest = self.pairs.get(first..).unwrap_or_default().iter();
        let own = rest.take_while(move |(relocated, _)| *relocated == target);
        own.filter_map(|(_, index)| Some(SectionIndex(usize::try_from(*index).ok()?)))
    }

    /// The last section with extended section numbers for a symbol table.
    fn extended(&self, symbols: SectionIndex) -> Option<SectionIndex> {
        let symbols = u32::try_from(symbols.0).ok()?;
        let after = self.extended.partition_point(|(table, _)| *table <= symbols);
        let (table, index) = *self.extended.get(after.checked_sub(1)?)?;
        (table == symbols).then_some(SectionIndex(usize::try_from(index).ok()?))
    }
}

/// The relocations of one section of a relocatable object.
#[derive(Clone, Debug, Default)]
pub struct RelocationTable {
    /// The relocations, in the order of the file.
    pub relocations: Vec<Relocation>,
    /// The number of relocations without an addend (`SHT_REL`), which no SFrame producer writes.
    pub without_addend: u64,
}

impl RelocationTable {
    /// Reads the relocations that apply to section `target`.
    ///
    /// # Errors
    /// [`ElfError::Malformed`]; [`ElfError::SharedBytes`] if sections of relocations together are longer than the file,
    /// which is possible only if they overlap.
    pub fn load(file: &Elf<'_>, target: u32) -> Result<RelocationTable, ElfError> {
        let mut table = RelocationTable::default();
        if file.class == Class::Elf32 {
            return Ok(table);
        }
        let header = FileHeader64::<Endianness>::parse(file.data)?;
        let order = header.endian()?;
        let sections = file.headers.table(header, order, file.data)?;
        let mut room = Room::of(file);
        for index in file.relocating.of_target(target) {
            let section = sections.section(index)?;
            match section.sh_type(order).0 {
                SHT_RELA => {
                    let Some((entries, link)) = section.rela(order, file.data)? else { continue };
                    room.take(section.sh_size(order))?;
                    let symbols = Symbols::of(file, link, &sections, order)?;
                    table.relocations.reserve_exact(entries.len());
                    let read = entries.iter().map(|entry| from_rela(entry, &symbols));
                    table.relocations.extend(read);
                }
                SHT_CREL => {
                    let Some((entries, link)) = section.crel(order, file.data)? else { continue };
                    room.take(section.sh_size(order))?;
                    let symbols = Symbols::of(file, link, &sections, order)?;
                    for entry in entries {
                        table.relocations.push(from_crel(&entry?, &symbols));
                    }
                }
                SHT_REL => {
                    let entry = size_of::<elf::Rel64<Endianness>>() as u64;
                    let count = section.sh_size(order) / entry;
                    table.without_addend = table.without_addend.saturating_add(count);
                }
                _ => {}
            }
        }
        Ok(table)
    }

    /// The relocations in the form that [`Placement`](crate::Placement) takes, ordered by field offset.
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

/// The symbols that relocations refer to.
struct Symbols<'a> {
    order: Endianness,
    entries: &'a [Sym64<Endianness>],
    /// `SHT_SYMTAB_SHNDX`: the section numbers that do not fit in the entries.
    extended: &'a [U32<Endianness>],
}

impl<'a> Symbols<'a> {
    /// The symbols of the table at `index`; none if that section is no symbol table.
    fn of(
        file: &Elf<'a>,
        index: SectionIndex,
        sections: &SectionTable<'a, FileHeader64<Endianness>>,
        order: Endianness,
    ) -> Result<Symbols<'a>, ElfError> {
        let section = sections.section(index)?;
        if !matches!(section.sh_type(order), elf::SHT_SYMTAB | elf::SHT_DYNSYM) {
            return Ok(Symbols { order, entries: &[], extended: &[] });
        }
        let extended = match file.relocating.extended(index) {
            Some(extended) => sections.section(extended)?.data_as_array(order, file.data)?,
            None => &[],
        };
        Ok(Symbols { order, entries: section.data_as_array(order, file.data)?, extended })
    }

    /// The section and value of a symbol that is defined in a section.
    fn place(&self, SymbolIndex(index): SymbolIndex) -> Option<CodeAddress> {
        let symbol = self.entries.get(index).filter(|_| index != 0)?;
        let number = symbol.st_shndx(self.order);
        let section = match number.index() {
            Some(section) => section.into(),
            None if number == elf::SHN_XINDEX => self.extended.get(index)?.get(self.order),
            None => 0,
        };
        (section != 0).then(|| CodeAddress { section, address: symbol.st_value(self.order) })
    }
}

fn from_rela(entry: &elf::Rela64<Endianness>, symbols: &Symbols<'_>) -> Relocation {
    let order = symbols.order;
    Relocation {
        offset: entry.r_offset(order),
        kind: entry.r_type(order, false).0,
        addend: entry.r_addend(order),
        symbol: entry.symbol(order, false).and_then(|index| symbols.place(index)),
    }
}

fn from_crel(entry: &Crel, symbols: &Symbols<'_>) -> Relocation {
    Relocation {
        offset: entry.r_offset,
        kind: entry.r_type.0,
        addend: entry.r_addend,
        symbol: entry.symbol().and_then(|index| symbols.place(index)),
    }
}

/// How many bytes of tables may still be read. The total is limited to the file's size, so that headers that repeatedly
/// refer to the same bytes cannot multiply the work.
struct Room(u64);

impl Room {
    fn of(file: &Elf<'_>) -> Room {
        Room(file.data.len() as u64)
    }

    fn take(&mut self, bytes: u64) -> Result<(), ElfError> {
        self.0 = self.0.checked_sub(bytes).ok_or(ElfError::SharedBytes)?;
        Ok(())
    }
}

impl Elf<'_> {
    /// The addresses in `[start, end)` to which dynamic relocations of a linked file apply, in ascending order.
    ///
    /// # Errors
    /// [`ElfError::Malformed`], [`ElfError::SharedBytes`].
    pub fn dynamic_relocations(&self, start: u64, end: u64) -> Result<Vec<u64>, ElfError> {
        let mut found = Vec::new();
        if self.class == Class::Elf32 || start >= end {
            return Ok(found);
        }
        let header = FileHeader64::<Endianness>::parse(self.data)?;
        let order = header.endian()?;
        let sections = self.headers.table(header, order, self.data)?;
        let mut room = Room::of(self);
        for section in sections.iter() {
            if section.sh_flags(order).0 & SHF_ALLOC == 0 {
                continue;
            }
            let inside = |address: &u64| (start..end).contains(address);
            match section.sh_type(order).0 {
                SHT_RELA => {
                    let Some((entries, _)) = section.rela(order, self.data)? else { continue };
                    room.take(section.sh_size(order))?;
                    found.extend(entries.iter().map(|entry| entry.r_offset(order)).filter(inside));
                }
                SHT_RELR => {
                    let Some(entries) = section.relr(order, self.data)? else { continue };
                    room.take(section.sh_size(order))?;
                    found.extend(entries.filter(inside));
                }
                _ => {}
            }
        }
        found.sort_unstable();
        Ok(found)
    }
}
