//! Reads what a file to compare says about its frames.

use std::path::Path;

use sframe_oracle::cfi::{Cfi, CfiSource};
use sframe_oracle::code::Program;
use sframe_validator::Section;
use sframe_validator::elf::{Elf, ElfKind, SframeSection, SymbolTable};

use sframe_input::{FileBytes, SectionSource, archive, plain_error};

use super::RowsFrom;

/// The bytes of a regular file.
pub(super) fn read(path: &Path) -> Result<FileBytes, String> {
    FileBytes::open(path).map_err(|error| plain_error(&error))
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
    pub(super) fn load(data: &'a [u8]) -> Result<File<'a>, String> {
        if archive::is_archive(data) {
            return Err("an archive: take out the members to compare".to_owned());
        }
        let elf = Elf::parse(data).map_err(|error| error.to_string())?;
        let contents = elf.sframe_contents().collect();
        let symbols = SymbolTable::load(&elf).map_err(|error| error.to_string())?;
        Ok(File { elf, contents, symbols })
    }

    /// Whether it has an SFrame section.
    pub(super) fn has_sframe(&self) -> bool {
        !self.contents.is_empty()
    }

    /// Its SFrame sections.
    pub(super) fn sections(&self) -> Result<Vec<Section<'_>>, String> {
        if self.contents.is_empty() {
            return Err("no SFrame section".to_owned());
        }
        let mut sections = Vec::new();
        for content in &self.contents {
            let source = SectionSource::of(content).map_err(|error| error.to_string())?;
            let name = source.name;
            sections.push(source.section.map_err(|error| format!("{name}: {error}"))?);
        }
        Ok(sections)
    }

    /// Its machine code, divided with the help of its call frame information.
    pub(super) fn program<'p>(&'p self, cfi: &'p [Cfi<'p>]) -> Result<Program<'p>, String> {
        Program::of(&self.elf, &[], cfi)
            .ok_or_else(|| "only machine code for AMD64 and AArch64 can be compared".to_owned())
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
pub(super) fn load_cfi<'s>(source: &'s CfiSource<'_, '_>) -> Result<Vec<Cfi<'s>>, String> {
    let cfi = source.load_all().map_err(|error| error.to_string())?;
    if has_functions(&cfi) { Ok(cfi) } else { Err("no call frame information".to_owned()) }
}

fn has_functions(cfi: &[Cfi<'_>]) -> bool {
    cfi.iter().any(|cfi| !cfi.is_empty())
}
