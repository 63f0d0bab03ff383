//! Code that a program has replaced after the link: BOLT writes a program's functions anew, to other addresses, and leaves
//! the old ones where they are. Nothing executes them any longer.
//!
//! observed (LLVM 19): the section with the old code gets the prefix `.bolt.org`, and its new name is that of the section
//! with the new code. With a profile, only functions that it mentions are written anew; the symbols of the others stay in
//! the old section, and those of functions that were replaced move. `.note.bolt_info` has the command line.

use alloc::vec::Vec;

use super::code::AddressIndex;
use super::{Elf, ElfKind, ElfSection, SHT_SYMTAB, SymbolTable};
use crate::unwind::CodeAddress;

/// How the names of sections begin that BOLT has replaced.
const OLD: &[u8] = b".bolt.org.";
/// The section in which BOLT says that it has rewritten the file.
const NOTE: &[u8] = b".note.bolt_info";

/// The sections whose code was replaced, by index.
#[derive(Clone, Debug, Default)]
pub(super) struct ReplacedSections {
    /// Those of which no part is executed, in order.
    whole: Vec<u32>,
    /// Those with functions that were not replaced.
    partly: Vec<u32>,
}

impl ReplacedSections {
    pub(super) fn of(elf: &Elf<'_>) -> ReplacedSections {
        let mut found = ReplacedSections::default();
        let is_linked = matches!(elf.kind(), ElfKind::Executable | ElfKind::Shared);
        let is_old = |section: &&ElfSection<'_>| {
            is_linked && section.is_executable() && section.name.bytes().starts_with(OLD)
        };
        let mut old = elf.sections().iter().filter(is_old).peekable();
        if old.peek().is_none() {
            return found;
        }
        let symbols = SymbolTable::load(elf).unwrap_or_default();
        for section in old {
            let end = section.address.saturating_add(section.size);
            let range = section.address..end;
            let start = CodeAddress::absolute(section.address);
            let first = symbols.symbols().partition_point(|symbol| symbol.start < start);
            let next = symbols.symbols().get(first).map(|symbol| symbol.start.address);
            let is_used =
                range.contains(&elf.entry()) || next.is_some_and(|next| range.contains(&next));
            let list = if is_used { &mut found.partly } else { &mut found.whole };
            list.push(section.index);
        }
        found
    }
}

impl<'a> Elf<'a> {
    /// Whether BOLT has rewritten the file.
    #[must_use]
    pub fn is_rewritten(&self) -> bool {
        let is_mark = |section: &ElfSection<'_>| {
            let name = section.name.bytes();
            name == NOTE || name.starts_with(OLD)
        };
        self.sections.iter().any(is_mark)
    }

    /// Whether a section has only code that was replaced, so that none of it is executed.
    pub(super) fn is_replaced(&self, section: &ElfSection<'_>) -> bool {
        self.replaced.whole.binary_search(&section.index).is_ok()
    }

    /// The code of the file that was replaced; `None` if there is none.
    #[must_use]
    pub fn replaced_code(&self) -> Option<ReplacedCode<'_, 'a>> {
        let ReplacedSections { whole, partly } = &self.replaced;
        if whole.is_empty() && partly.is_empty() {
            return None;
        }
        let index = |of: &[u32]| AddressIndex::of(of.iter().filter_map(|at| self.section(*at)));
        // Only a complete table of symbols shows that a function has moved.
        let is_complete = self.sections.iter().any(|section| section.sh_type == SHT_SYMTAB);
        let partly = if is_complete { partly.as_slice() } else { &[] };
        let symbols = || SymbolTable::load(self).unwrap_or_default();
        let symbols = if partly.is_empty() { SymbolTable::default() } else { symbols() };
        Some(ReplacedCode { elf: self, whole: index(whole), partly: index(partly), symbols })
    }
}

/// The code of a file that was replaced.
#[derive(Clone, Debug)]
pub struct ReplacedCode<'e, 'a> {
    elf: &'e Elf<'a>,
    /// The sections of which no part is executed.
    whole: AddressIndex,
    /// Those in which functions have symbols if they were not replaced.
    partly: AddressIndex,
    symbols: SymbolTable<'a>,
}

impl<'e, 'a> ReplacedCode<'e, 'a> {
    /// The section that contains a function, if the function was replaced. Without a symbol table, a function in a section
    /// with others that were not replaced counts as one of those.
    #[must_use]
    pub fn section_of(&self, start: CodeAddress) -> Option<&'e ElfSection<'a>> {
        let partly = || {
            let section = self.partly.find(start.address)?;
            self.symbols.find(start).is_none().then_some(section)
        };
        self.elf.section(self.whole.find(start.address).or_else(partly)?)
    }

    /// Whether a function that starts at a place was replaced.
    #[must_use]
    pub fn contains(&self, start: CodeAddress) -> bool {
        self.section_of(start).is_some()
    }
}
