//! Reads the sections of a file to compare.

use std::path::Path;

use sframe_oracle::diff::Set;
use sframe_validator::Section;
use sframe_validator::elf::{Elf, ElfKind, SframeSection, SymbolTable};

use sframe_input::{FileBytes, SectionSource, archive, plain_error};

/// The bytes of a regular file.
pub(super) fn read(path: &Path) -> Result<FileBytes, String> {
    FileBytes::open(path).map_err(|error| plain_error(&error))
}

/// An ELF file.
pub(super) struct File<'a> {
    elf: Elf<'a>,
    contents: Vec<SframeSection<'a>>,
    symbols: SymbolTable<'a>,
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

    /// The sections.
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

    pub(super) fn set<'s>(&'s self, sections: &'s [Section<'s>]) -> Set<'s> {
        Set { sections, elf: &self.elf, symbols: &self.symbols }
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
