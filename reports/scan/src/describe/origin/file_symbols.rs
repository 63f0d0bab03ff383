//! The names of source files in the symbol table, which compilers write with `.file`.

use sframe_validator::Endian;
use sframe_validator::elf::{Class, Elf, SHT_SYMTAB};

/// `STT_FILE`.
const FILE: u8 = 4;
/// The size of `Elf64_Sym`.
const SIZE: usize = 24;

/// The names of the source files; `None` without a symbol table.
pub(super) fn names<'a>(elf: &Elf<'a>) -> Option<Vec<&'a [u8]>> {
    if elf.class() != Class::Elf64 {
        return None;
    }
    let table = elf.sections().iter().find(|section| section.sh_type == SHT_SYMTAB)?;
    let strings = elf.section_data(elf.section(table.link)?).ok()?;
    let symbols = elf.section_data(table).ok()?;
    let name = |symbol: &[u8]| {
        let kind = *symbol.get(4)? & 0xf;
        let offset: [u8; 4] = symbol.get(..4)?.try_into().ok()?;
        let offset = match elf.endian() {
            Endian::Little => u32::from_le_bytes(offset),
            Endian::Big => u32::from_be_bytes(offset),
        };
        let name = strings.get(usize::try_from(offset).ok()?..).filter(|_| kind == FILE)?;
        name.split(|byte| *byte == 0).next()
    };
    let names = symbols.chunks_exact(SIZE).filter_map(|symbol: &'a [u8]| name(symbol));
    Some(names.filter(|name| !name.is_empty()).take(MOST).collect())
}

/// The most names that are read: `ld -r` joins objects.
const MOST: usize = 4096;
