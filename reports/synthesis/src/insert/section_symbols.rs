//! Symbols for sections, added to the symbol table of an object in which the code of a section has global symbols only.
//! Relocations refer to them: a linker may take another definition for a global symbol.
//!
//! Local symbols precede global ones (gABI, "Symbol Table"), so that the numbers of global symbols change, in relocations and
//! groups as well.

use sframe_validator::Endian;
use sframe_validator::elf::{Elf, SHT_GROUP, SHT_REL, SHT_RELA};

use super::fields::{SectionHeader, Symbol, push};
use super::{CannotInsert, extend};

/// The symbols whose addresses matter. Linkers ignore the section if it belongs to no symbol table.
const SHT_LLVM_ADDRSIG: u32 = 0x6fff_4c03;
/// How often functions call each other. Relocations name the symbols.
const SHT_LLVM_CALL_GRAPH_PROFILE: u32 = 0x6fff_4c09;
/// The bytes of a symbol.
const SYMBOL: usize = 24;

/// Adds a symbol for each of `sections` to the symbol table with the index `table`, and a copy of that table to the file. Returns the
/// number of the first new symbol.
///
/// # Errors
/// [`CannotInsert::Headers`], if the table is not sound, or something refers to its symbols in a way that is not known.
pub(super) fn add(
    elf: &Elf<'_>,
    file: &mut Vec<u8>,
    headers: &mut [SectionHeader],
    table: u32,
    sections: &[u32],
) -> Result<u32, CannotInsert> {
    let unusual = CannotInsert::Headers;
    let index = usize::try_from(table).map_err(|_| unusual)?;
    let own = *headers.get(index).ok_or(unusual)?;
    let first = own.info;
    let more = u32::try_from(sections.len()).map_err(|_| unusual)?;
    let start = usize::try_from(own.offset).map_err(|_| unusual)?;
    let size = usize::try_from(own.size).map_err(|_| unusual)?;
    let symbols = elf.data().get(start..).and_then(|rest| rest.get(..size)).ok_or(unusual)?;
    let end_of_local = usize::try_from(first).ok().and_then(|count| count.checked_mul(SYMBOL));
    let (local, global) =
        end_of_local.and_then(|end| symbols.split_at_checked(end)).ok_or(unusual)?;
    let renumbered = Renumbered { first, more, endian: elf.endian() };
    let (mut done, mut relocations) = (0, Vec::new());
    for header in headers.iter_mut().filter(|header| header.link == table) {
        match header.sh_type {
            SHT_RELA | SHT_REL => relocations.push(*header),
            SHT_GROUP => header.info = renumbered.number(header.info).ok_or(unusual)?,
            SHT_LLVM_ADDRSIG => header.link = 0,
            SHT_LLVM_CALL_GRAPH_PROFILE => {}
            _ => return Err(unusual),
        }
    }
    // Bytes of two sections would get new numbers twice.
    relocations.sort_unstable_by_key(|header| header.offset);
    for header in relocations {
        let is_apart = header.offset >= done;
        done = header.offset.checked_add(header.size).filter(|_| is_apart).ok_or(unusual)?;
        renumbered.relocations(file, &header).ok_or(unusual)?;
    }
    let offset = (file.len() as u64).next_multiple_of(8);
    extend(file, offset)?;
    file.extend_from_slice(local);
    for section in sections {
        let section = u16::try_from(*section).map_err(|_| unusual)?;
        Symbol::of_section(section).write(file, elf.endian());
    }
    file.extend_from_slice(global);
    let size = file.len() as u64 - offset;
    if let Some(own) = headers.get_mut(index) {
        *own = SectionHeader { offset, size, info: first.saturating_add(more), ..*own };
    }
    Ok(first)
}

/// The numbers of symbols after `more` new ones were put before the symbol that was the `first` global one.
struct Renumbered {
    first: u32,
    more: u32,
    endian: Endian,
}

impl Renumbered {
    /// The new number of a symbol.
    fn number(&self, symbol: u32) -> Option<u32> {
        if symbol < self.first { Some(symbol) } else { symbol.checked_add(self.more) }
    }

    /// Changes the numbers in the relocations of a section; `None` if they are not in the file.
    fn relocations(&self, file: &mut [u8], header: &SectionHeader) -> Option<()> {
        // r_offset, r_info, and an addend in SHT_RELA.
        let size = if header.sh_type == SHT_RELA { 24 } else { 16 };
        let start = usize::try_from(header.offset).ok()?;
        let end = start.checked_add(usize::try_from(header.size).ok()?)?;
        for relocation in file.get_mut(start..end)?.chunks_exact_mut(size) {
            let field = relocation.get_mut(8..16)?;
            let bytes = *field.first_chunk()?;
            let info = match self.endian {
                Endian::Little => u64::from_le_bytes(bytes),
                Endian::Big => u64::from_be_bytes(bytes),
            };
            let symbol = self.number(u32::try_from(info >> 32).ok()?)?;
            let mut changed = Vec::new();
            push(&mut changed, self.endian, u64::from(symbol) << 32 | info & 0xffff_ffff, 8);
            field.copy_from_slice(&changed);
        }
        Some(())
    }
}
