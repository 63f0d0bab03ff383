//! The names of places in the code of a file.

use std::cell::OnceCell;

use sframe_validator::elf::{Elf, ElfSection, SymbolTable};
use sframe_validator::unwind::CodeAddress;

/// A place relative to a symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolPlace {
    /// The bytes of the symbol's name.
    pub name: Vec<u8>,
    /// The offset from the symbol in bytes.
    pub offset: u64,
}

/// The names in a file. Its symbols are read on first use.
#[derive(Debug)]
pub struct Names<'n, 'a> {
    elf: Option<&'n Elf<'a>>,
    symbols: OnceCell<SymbolTable<'a>>,
    /// The sections of code by address: start, end, number.
    code: OnceCell<Vec<(u64, u64, u32)>>,
}

impl<'n, 'a> Names<'n, 'a> {
    /// The names in a file; without a file there are none.
    #[must_use]
    pub const fn of(elf: Option<&'n Elf<'a>>) -> Names<'n, 'a> {
        Names { elf, symbols: OnceCell::new(), code: OnceCell::new() }
    }

    /// The symbol at or before `place`.
    #[must_use]
    pub fn symbol(&self, place: CodeAddress) -> Option<SymbolPlace> {
        let elf = self.elf?;
        let symbols = self.symbols.get_or_init(|| SymbolTable::load(elf).unwrap_or_default());
        let symbol = symbols.find(place)?;
        let offset = place.address.wrapping_sub(symbol.start.address);
        Some(SymbolPlace { name: symbol.name.bytes().to_vec(), offset })
    }

    /// The name of the section that `place` is relative to; `None` if it is an address.
    #[must_use]
    pub fn section(&self, place: CodeAddress) -> Option<String> {
        let section = self.elf?.section(place.section).filter(|_| place.section != 0)?;
        Some(section.name.to_string())
    }

    /// The name of the section of code that contains `place`.
    #[must_use]
    pub fn elf_section(&self, place: CodeAddress) -> Option<String> {
        let elf = self.elf?;
        if place.section != 0 {
            return self.section(place);
        }
        let code = self.code.get_or_init(|| {
            let range = |section: &ElfSection<'_>| {
                let end = section.address.checked_add(section.size)?;
                (section.is_executable() && end > section.address).then_some((
                    section.address,
                    end,
                    section.index,
                ))
            };
            let mut code: Vec<_> = elf.sections().iter().filter_map(range).collect();
            code.sort_unstable();
            code
        });
        let next = code.partition_point(|(start, ..)| *start <= place.address);
        let (_, end, number) = code.get(next.checked_sub(1)?)?;
        let section = elf.section(*number).filter(|_| place.address < *end)?;
        Some(section.name.to_string())
    }
}
