//! Which functions of a section are printed.

use sframe_validator::elf::SymbolTable;
use sframe_validator::section::FunctionEntry;
use sframe_validator::unwind::CodeAddress;

/// The functions to print: all of them, unless some are named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Functions with one of these symbols at their start.
    pub functions: Vec<String>,
    /// Functions that contain one of these PCs: addresses or, in a relocatable object, offsets in any section.
    pub pcs: Vec<u64>,
}

impl Selection {
    /// Whether it selects all functions.
    #[must_use]
    pub const fn is_all(&self) -> bool {
        self.functions.is_empty() && self.pcs.is_empty()
    }

    pub(super) fn contains(
        &self,
        entry: &FunctionEntry<'_>,
        symbols: Option<&SymbolTable<'_>>,
    ) -> bool {
        if self.is_all() {
            return true;
        }
        let Ok(start) = entry.start() else { return false };
        let has_pc = |pc: &u64| {
            pc.checked_sub(start.address).is_some_and(|offset| offset < entry.size().into())
        };
        self.pcs.iter().any(has_pc) || symbols.is_some_and(|symbols| self.names(start, symbols))
    }

    fn names(&self, start: CodeAddress, symbols: &SymbolTable<'_>) -> bool {
        let all = symbols.symbols();
        let here = all.iter().skip(all.partition_point(|symbol| symbol.start < start));
        let mut here = here.take_while(|symbol| symbol.start == start);
        here.any(|symbol| self.functions.iter().any(|name| symbol.name.bytes() == name.as_bytes()))
    }
}
