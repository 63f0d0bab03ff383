//! Reads what a file to compare says about its frames.

use std::path::Path;

use sframe_oracle::cfi::{Cfi, CfiSource};
use sframe_oracle::code::Program;
use sframe_validator::Section;
use sframe_validator::elf::{Elf, ElfKind, SframeSection, SymbolTable};

use sframe_input::{FileBytes, SectionSource, archive};

use super::{NotComparable, RowsFrom};

/// The bytes of a regular file.
pub(super) fn read(path: &Path) -> Result<FileBytes, NotComparable> {
    Ok(FileBytes::open(path)?)
}

/// Whether a file has rows of this kind.
pub(super) fn has_rows(data: &[u8], from: RowsFrom) -> bool {
    let Ok(elf) = Elf::parse(data) else { return false };
    match from {
        RowsFrom::Sframe => elf.sframe_sections().next().is_some(),
        RowsFrom::Cfi => CfiSource::of(&elf).load_all().is_ok_and(|cfi| has_functions(&cfi)),
        RowsFrom::Code => elf.abi().is_some() && elf.code_sections().next().is_some(),
    }
}

/// An ELF file.
pub(super) struct File<'a> {
    pub(super) elf: Elf<'a>,
    contents: Vec<SframeSection<'a>>,
    pub(super) symbols: SymbolTable<'a>,
}

impl<'a> File<'a> {
    pub(super) fn load(data: &'a [u8]) -> Result<File<'a>, NotComparable> {
        if archive::is_archive(data) {
            return Err(NotComparable::Archive);
        }
        let elf = Elf::parse(data)?;
        let contents = elf.sframe_contents().collect();
        let symbols = SymbolTable::load(&elf)?;
        Ok(File { elf, contents, symbols })
    }

    /// Whether it has an SFrame section.
    pub(super) fn has_sframe(&self) -> bool {
        !self.contents.is_empty()
    }

    /// Its SFrame sections.
    pub(super) fn sections(&self) -> Result<Vec<Section<'_>>, NotComparable> {
        if self.contents.is_empty() {
            return Err(NotComparable::NoSection);
        }
        let mut sections = Vec::new();
        for content in &self.contents {
            let SectionSource { name, section, .. } = SectionSource::of(content)?;
            sections.push(section.map_err(|error| NotComparable::Section { name, error })?);
        }
        Ok(sections)
    }

    /// Its machine code, divided with the help of its call frame information.
    pub(super) fn program<'p>(&'p self, cfi: &'p [Cfi<'p>]) -> Result<Program<'p>, NotComparable> {
        Program::of(&self.elf, &[], cfi).ok_or(NotComparable::Machine)
    }

    /// Whether both files have code at the same places.
    pub(super) fn same_code(&self, other: &File<'_>) -> bool {
        let code = |elf: &Elf<'_>| -> Vec<(u32, u64, u64)> {
            let relocatable = elf.kind() == ElfKind::Relocatable;
            let number = |index| if relocatable { index } else { 0 };
            elf.code_sections().map(|s| (number(s.index), s.address, s.size)).collect()
        };
        let kind = |elf: &Elf<'_>| (elf.machine(), elf.kind() == ElfKind::Relocatable);
        kind(&self.elf) == kind(&other.elf) && code(&self.elf) == code(&other.elf)
    }
}

/// The call frame information of a file, which must have some.
pub(super) fn load_cfi<'s>(source: &'s CfiSource<'_, '_>) -> Result<Vec<Cfi<'s>>, NotComparable> {
    let cfi = source.load_all()?;
    if has_functions(&cfi) { Ok(cfi) } else { Err(NotComparable::NoCfi) }
}

fn has_functions(cfi: &[Cfi<'_>]) -> bool {
    cfi.iter().any(|cfi| !cfi.is_empty())
}
