//! The names that a file has for places in its code.

use std::cell::OnceCell;

use sframe_validator::elf::{Elf, SymbolTable};
use sframe_validator::unwind::CodeAddress;

/// A place by symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolPlace {
    /// The symbol's name, its bytes.
    pub name: Vec<u8>,
    /// Bytes from the symbol's start.
    pub offset: u64,
}

/// The names of a file; symbols are read when the first one is asked for.
#[derive(Debug)]
pub struct Names<'n, 'a> {
    elf: Option<&'n Elf<'a>>,
    symbols: OnceCell<SymbolTable<'a>>,
}

impl<'n, 'a> Names<'n, 'a> {
    /// The names of a file; none of bytes without a file.
    #[must_use]
    pub const fn of(elf: Option<&'n Elf<'a>>) -> Names<'n, 'a> {
        Names { elf, symbols: OnceCell::new() }
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

    /// The name of the section that `place` counts from; `None` where it is an address.
    #[must_use]
    pub fn section(&self, place: CodeAddress) -> Option<String> {
        let section = self.elf?.section(place.section).filter(|_| place.section != 0)?;
        Some(section.name.to_string())
    }
}
