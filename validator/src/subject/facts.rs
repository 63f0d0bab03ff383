//! The rest of the file, for lints: it is read once for all SFrame sections.

use alloc::vec::Vec;
use core::cell::{Cell, OnceCell};

use super::code::CodeMap;
use crate::elf::{Elf, ElfError, ElfSection, SymbolTable};
use crate::unwind::CodeAddress;

/// The length in bytes of the instruction at the start of some code; `None` if there is none.
pub type InstructionLength = fn(&[u8]) -> Option<usize>;

/// The rest of the file.
pub(crate) struct FileFacts<'a> {
    pub(crate) elf: &'a Elf<'a>,
    /// The file's function symbols.
    pub(crate) symbols: SymbolTable<'a>,
    /// The linker's stub sections.
    pub(crate) stubs: Vec<&'a ElfSection<'a>>,
    stub_code: CodeMap,
    /// The starts of functions according to `.eh_frame_hdr`, sorted; `None` if there is none that can be read.
    pub(crate) cfi_starts: OnceCell<Option<Vec<u64>>>,
    /// The number of bytes of code that may still be decoded. In a valid file, functions do not overlap, so their code
    /// is no longer than the file.
    pub(crate) decodable: Cell<usize>,
    /// Decodes AMD64 instructions.
    pub(crate) amd64: Option<InstructionLength>,
}

impl<'a> FileFacts<'a> {
    /// The facts. If the symbols cannot be read, they are empty and the error is returned as well.
    pub(crate) fn of(
        elf: &'a Elf<'a>,
        amd64: Option<InstructionLength>,
    ) -> (FileFacts<'a>, Option<ElfError>) {
        let symbols = SymbolTable::load(elf);
        let error = symbols.as_ref().err().copied();
        let stubs = elf.code_sections().filter(|section| section.size > 0 && section.is_stubs());
        let stubs: Vec<_> = stubs.collect();
        let places = stubs.iter().map(|stub| (CodeAddress::absolute(stub.address), stub.size));
        let facts = FileFacts {
            elf,
            symbols: symbols.unwrap_or_default(),
            stub_code: CodeMap::of(places),
            stubs,
            cfi_starts: OnceCell::new(),
            decodable: Cell::new(elf.data().len()),
            amd64,
        };
        (facts, error)
    }

    /// Whether all of `[start, start + size)` of a linked file is in a stub section.
    pub(crate) fn in_stubs(&self, start: CodeAddress, size: u32) -> bool {
        let stub = self.stub_code.containing(start);
        stub.is_some_and(|stub| stub.contains(start, size.into()))
    }
}
