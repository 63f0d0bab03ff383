//! What the rest of the file says about functions: their starts and sizes in CFI and in the symbol table, and where code
//! is.

use std::collections::HashSet;

use sframe_oracle::cfi::Cfi;
use sframe_validator::elf::{Elf, ElfError, SymbolTable};
use sframe_validator::unwind::CodeAddress;

/// Functions and code that are known independently of SFrame.
pub(crate) struct Known {
    functions: HashSet<(CodeAddress, u64)>,
    /// Executable ranges, sorted and disjoint: the section, the start, and the exclusive end.
    code: Vec<(u32, u64, u64)>,
}

impl Known {
    pub(crate) fn of(elf: &Elf<'_>, cfi: &[Cfi<'_>]) -> Result<Known, ElfError> {
        let of_cfi = cfi.iter().flat_map(Cfi::functions).map(|fde| (fde.start(), fde.size()));
        let mut functions: HashSet<_> = of_cfi.collect();
        let symbols = SymbolTable::load(elf)?;
        functions.extend(symbols.symbols().iter().map(|symbol| (symbol.start, symbol.size)));
        let mut ranges: Vec<_> = elf
            .executable()
            .map(|(start, size)| (start.section, start.address, start.address.saturating_add(size)))
            .collect();
        ranges.sort_unstable();
        let mut code: Vec<(u32, u64, u64)> = Vec::new();
        for (section, start, end) in ranges {
            match code.last_mut() {
                Some(last) if last.0 == section && start <= last.2 => last.2 = last.2.max(end),
                _ => code.push((section, start, end)),
            }
        }
        Ok(Known { functions, code })
    }

    /// Whether CFI or a symbol says that a function of this size starts here.
    pub(crate) fn has(&self, start: CodeAddress, size: u32) -> bool {
        self.functions.contains(&(start, size.into()))
    }

    /// Whether there is code at a place. A function without bytes can also be at the end of code.
    pub(crate) fn is_code(&self, place: CodeAddress, size: u32) -> bool {
        let after = self.code.partition_point(|(section, start, _)| {
            (*section, *start) <= (place.section, place.address)
        });
        let range = after.checked_sub(1).and_then(|index| self.code.get(index));
        range.is_some_and(|(section, _, end)| {
            *section == place.section
                && (place.address < *end || size == 0 && place.address == *end)
        })
    }
}
