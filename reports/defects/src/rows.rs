//! Rows that differ from CFI: a known defect explains a row if the row is the one that the producer writes.
//!
//! What the producer writes is what the model of it says (`sframe_synthesis`), from this function's CFI, at every PC of the
//! range. The call frame instructions at the place where the difference begins only decide which defect it is.

mod cause;
mod modelled;
mod moved;
mod stubs;
mod undefined;

use std::fmt;

use sframe_oracle::account::{Differing, Recognise};
use sframe_oracle::cfi::{Cfi, Fde};
use sframe_oracle::code::Program;
use sframe_oracle::compare::{Fields, Wrong};
use sframe_record::Producer;
use sframe_synthesis::{AsWritten, Assembler, Function, Release};
use sframe_validator::elf::{Elf, ElfKind};
use sframe_validator::unwind::{CodeAddress, Frame};
use sframe_validator::{Abi, Section, Version};

use crate::evidence::Unadjusted;
use modelled::Modelled;

/// Names the known defects of a file's rows. Nothing is modelled before the first difference.
pub struct RowDefects<'r, 'c> {
    elf: &'r Elf<'r>,
    sections: &'r [Section<'r>],
    cfi: &'c [Cfi<'c>],
    producers: fn(&Elf<'_>) -> Vec<Producer<'static>>,
    by_directives: bool,
    written: Option<Option<AsWritten<'r, 'c>>>,
    stubs: Option<Vec<Function>>,
    unadjusted: Option<Option<Unadjusted>>,
    /// The function that differed last: differences come in the order of addresses.
    last: Option<Modelled<'c>>,
    code: Option<Option<Program<'r>>>,
}

impl fmt::Debug for RowDefects<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RowDefects").field("sections", &self.sections.len()).finish_non_exhaustive()
    }
}

impl<'r, 'c: 'r> RowDefects<'r, 'c> {
    /// For the differences in a file between its `sections` and `cfi`. `producers` reads which programs made a file.
    #[must_use]
    pub const fn new(
        elf: &'r Elf<'r>,
        sections: &'r [Section<'r>],
        cfi: &'c [Cfi<'c>],
        producers: fn(&Elf<'_>) -> Vec<Producer<'static>>,
    ) -> RowDefects<'r, 'c> {
        RowDefects {
            elf,
            sections,
            cfi,
            producers,
            by_directives: false,
            written: None,
            stubs: None,
            unadjusted: None,
            last: None,
            code: None,
        }
    }

    /// Whether the directives are the truth, even where the code refutes them.
    #[must_use]
    pub const fn by_directives(mut self, by_directives: bool) -> RowDefects<'r, 'c> {
        self.by_directives = by_directives;
        self
    }

    /// The known defect because of which the row of a linker's stub is `frame` at a place that the section of the file
    /// describes. Returns `None` for other code.
    #[must_use]
    pub fn of_stub(&mut self, place: CodeAddress, frame: &Frame) -> Option<&'static str> {
        let section = self.sections.first()?;
        self.stub_row(section, (place, place.address.saturating_add(1)), None, frame)
    }

    fn written(&mut self) -> Option<&AsWritten<'r, 'c>> {
        let (elf, cfi) = (self.elf, self.cfi);
        self.written.get_or_insert_with(|| AsWritten::new(elf, cfi)).as_ref()
    }

    fn is_linked(&self) -> bool {
        matches!(self.elf.kind(), ElfKind::Executable | ElfKind::Shared)
    }

    /// The function as the assembler writes it.
    fn modelled(&mut self, fde: &Fde<'c>, assembler: Assembler) -> Option<&Modelled<'c>> {
        if self.last.as_ref().is_none_or(|last| last.fde != *fde) {
            let made = Modelled::of(self.written()?, fde, assembler);
            self.last = Some(made);
        }
        self.last.as_ref()
    }

    /// The defect that explains a row of the function that CFI describes.
    fn of_assembler(
        &mut self,
        differing: &Differing<'c>,
        section: &Section<'_>,
    ) -> Option<&'static str> {
        let fde = differing.cfi?.function;
        // No assembler makes rows from ORC tables.
        if differing.function.start != fde.start() || fde.cfi().kind().is_none() {
            return None;
        }
        let assembler = assembler(section)?;
        let modelled = self.modelled(&fde, assembler)?;
        let range = differing.start.address..differing.end;
        let mut matching = modelled.matching(range.clone(), differing.row_start, &differing.sframe);
        let name = matching.find_map(|candidate| {
            cause::name(assembler, modelled, candidate, range.start, differing.fields)
        });
        drop(matching);
        let name = name?;
        if name == "undefined-for-good" && !self.by_directives && self.is_undefined_wrongly() {
            return None;
        }
        Some(name)
    }
}

impl<'r, 'c: 'r> Recognise<'c> for RowDefects<'r, 'c> {
    fn recognise(&mut self, differing: &Differing<'c>) -> Option<&'static str> {
        // The mistake is not the producer's, if CFI is wrong.
        let is_of_cfi =
            matches!(differing.wrong, Some(Wrong::Cfi | Wrong::Both | Wrong::Inherited));
        if is_of_cfi && !self.by_directives {
            return None;
        }
        let number = usize::try_from(differing.function.section).ok()?;
        let sections = self.sections;
        let section = sections.get(number)?;
        if differing.fields.intersects(Fields::SIGNAL) {
            return None;
        }
        let range = (differing.start, differing.end);
        self.stub_row(section, range, differing.row_start, &differing.sframe)
            .filter(|_| differing.fields == Fields::CFA)
            .or_else(|| self.moved(differing, section))
            .or_else(|| self.of_assembler(differing, section))
    }
}

/// The assembler that wrote a section, by its format.
fn assembler(section: &Section<'_>) -> Option<Assembler> {
    let header = section.header();
    Some(match header.version {
        Version::V1 => Assembler::Gnu(Release::V2_40),
        // Version 2 with field-relative starts is LLVM's.
        Version::V2 if header.flags.pcrel() && section.abi().ok()? == Abi::Amd64 => Assembler::Llvm,
        Version::V2 if header.flags.pcrel() => return None,
        Version::V2 => Assembler::Gnu(Release::V2_44),
        Version::V3 => Assembler::Gnu(Release::V2_47_50),
    })
}

/// The release of GNU ld that writes a version.
const fn linker(version: Version) -> Release {
    match version {
        Version::V1 => Release::V2_40,
        Version::V2 => Release::V2_44,
        Version::V3 => Release::V2_47_50,
    }
}
