//! The names of places in the code of a file.

use std::sync::OnceLock;

use sframe_validator::elf::{CodeNames, Elf, Symbol, SymbolTable};
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
    symbols: OnceLock<SymbolTable<'a>>,
    code: OnceLock<CodeNames<'a>>,
}

impl<'n, 'a> Names<'n, 'a> {
    /// The names in a file; without a file there are none.
    #[must_use]
    pub const fn of(elf: Option<&'n Elf<'a>>) -> Names<'n, 'a> {
        Names { elf, symbols: OnceLock::new(), code: OnceLock::new() }
    }

    /// The function symbol that covers `place`. The identities of findings depend on it.
    #[must_use]
    pub fn symbol(&self, place: CodeAddress) -> Option<SymbolPlace> {
        let elf = self.elf?;
        let symbols = self.symbols.get_or_init(|| SymbolTable::load(elf).unwrap_or_default());
        symbols.find(place).map(|symbol| relative(place, symbol))
    }

    /// The symbol that covers `place`, or the nearest one before it without a size ([`CodeNames`]).
    #[must_use]
    pub fn nearest_symbol(&self, place: CodeAddress) -> Option<SymbolPlace> {
        let elf = self.elf?;
        let symbols = self.code.get_or_init(|| CodeNames::load(elf).unwrap_or_default());
        symbols.find(place).map(|symbol| relative(place, symbol))
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
        Some(self.elf?.code_section_at(place)?.name.to_string())
    }
}

fn relative(place: CodeAddress, symbol: &Symbol<'_>) -> SymbolPlace {
    let offset = place.address.wrapping_sub(symbol.start.address);
    SymbolPlace { name: symbol.name.bytes().to_vec(), offset }
}
