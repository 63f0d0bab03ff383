//! An ELF file whose sections are read.

use std::path::Path;

use sframe_validator::elf::{Elf, ElfError, SframeSection};

use crate::describe::{Located, Names};
use crate::options::CheckOptions;
use sframe_input::SectionSource;

/// Parses a file, and takes its code for what the options say.
///
/// # Errors
/// Those of [`Elf::parse`].
pub fn parsed<'f>(data: &'f [u8], options: &CheckOptions) -> Result<Elf<'f>, ElfError> {
    let mut elf = Elf::parse(data)?;
    if options.no_red_zone {
        elf.deny_red_zone();
    }
    Ok(elf)
}

/// An ELF file, with its SFrame sections read once.
pub(super) struct ElfFile<'f> {
    /// Where it is installed.
    pub(super) path: &'f Path,
    pub(super) elf: &'f Elf<'f>,
    pub(super) contents: &'f [SframeSection<'f>],
    /// Those of `contents` that can be read.
    pub(super) sources: &'f [SectionSource<'f>],
    pub(super) names: &'f Names<'f, 'f>,
}

impl<'f> ElfFile<'f> {
    /// Reads the sections of the file that is installed at `path`, and looks at it.
    pub(super) fn read<T>(path: &Path, elf: &Elf<'_>, look: impl FnOnce(&ElfFile<'_>) -> T) -> T {
        let contents: Vec<SframeSection<'_>> = elf.sframe_contents().collect();
        let sources: Vec<SectionSource<'_>> =
            contents.iter().map(SectionSource::of).filter_map(Result::ok).collect();
        let names = Names::of(Some(elf));
        look(&ElfFile { path, elf, contents: &contents, sources: &sources, names: &names })
    }

    /// Makes the records of its findings.
    pub(super) fn located(&self) -> Located<'f, 'f, 'f> {
        let slots = self.contents.iter().map(|content| {
            let header = &content.header;
            (Some(header.index), header.offset)
        });
        Located::new(slots, self.sources, self.names)
    }
}
