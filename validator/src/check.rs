//! Applies the catalogue's rules to a section and the file around it, in an order that finds a defect at its cause.
//!
//! The order is from the outside in: the file, the first bytes, the header, each function and its rows, and finally the
//! section as a whole. If a step shows that the next one would read nonsense, the check stops and lists the rest as
//! undecided, so that one defect gives one finding.

mod confirm;
mod missing;
mod selection;
mod sound_functions;
mod sound_rows;
mod walk;

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::elf::{Class, Elf, ElfError, ElfKind, ElfSection, SHF_ALLOC, SHT_NOBITS, SframeSection};
use crate::finding::reporter::{Collector, Reporter};
use crate::finding::{
    Finding, HeaderSummary, Keep, Report, SectionSummary, Undecided, UndecidedCause,
};
use crate::rules::CATALOGUE;
use crate::rules::entry::Check;
use crate::section::{Error, Placement, Section};
use crate::subject::code::CodeMap;
use crate::subject::extents::{Extents, Totals};
use crate::subject::facts::FileFacts;
pub use crate::subject::facts::InstructionLength;
use crate::subject::{FileContext, FileKind, PreambleContext, SectionContext, TotalContext};
use crate::text::Text;
pub use confirm::{Confirm, Unconfirmed};
use selection::{Selection, applicable};
use walk::{Surveyed, Walk};

/// Which rules to check, and how many findings to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Whether to check lint-level rules as well.
    pub pedantic: bool,
    /// How many findings of each rule to keep; all of them are counted.
    pub keep: Keep,
    /// Whether to run every rule on every row and function, even if an equal one has already passed. Slower, with the
    /// same findings: tests compare the two.
    pub thorough: bool,
}

impl Default for Options {
    /// No lints; the first three findings of each rule.
    fn default() -> Options {
        Options { pedantic: false, keep: Keep::First(3), thorough: false }
    }
}

/// Checks sections and files.
///
/// ```
/// use sframe_validator::check::Checker;
/// use sframe_validator::elf::Elf;
///
/// fn print(file: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
///     let report = Checker::default().elf(&Elf::parse(file)?);
///     for finding in &report.findings {
///         println!("{}[{}]: {}", finding.rule.severity, finding.rule.name, finding.message);
///     }
///     Ok(())
/// }
/// # assert!(print(b"not an ELF file").is_err());
/// ```
#[derive(Clone, Copy)]
pub struct Checker<'c> {
    options: Options,
    confirm: &'c dyn Confirm,
    amd64: Option<InstructionLength>,
    linked: bool,
}

impl Default for Checker<'_> {
    /// A check with the default options.
    fn default() -> Self {
        Checker { options: Options::default(), confirm: &Unconfirmed, amd64: None, linked: false }
    }
}

impl Checker<'static> {
    /// A check with these options, without any other source of information about the code.
    #[must_use]
    pub fn new(options: &Options) -> Checker<'static> {
        Checker { options: *options, ..Checker::default() }
    }
}

impl<'c> Checker<'c> {
    /// Asks `confirm` about each row that breaks a warning-level rule about values alone.
    ///
    /// If `confirm` agrees with the row, the unusual values are what the code does, and the lint `confirmed-oddity` is
    /// reported instead of the warning.
    #[must_use]
    pub fn confirm(self, confirm: &dyn Confirm) -> Checker<'_> {
        Checker { options: self.options, confirm, amd64: self.amd64, linked: self.linked }
    }

    /// Asks `length` where AMD64 instructions start. The lint `row-inside-instruction` is not checked in AMD64 code
    /// without it. Other machines' instructions need no decoder.
    #[must_use]
    pub fn amd64_instructions(self, length: InstructionLength) -> Checker<'c> {
        Checker { amd64: Some(length), ..self }
    }

    /// Sections without a file around them are from a linked file, so that the rules of linked files apply as far as they
    /// need nothing but the section.
    #[must_use]
    pub fn linked(self) -> Checker<'c> {
        Checker { linked: true, ..self }
    }

    /// Checks the bytes of one section without a file around it.
    #[must_use]
    pub fn section(&self, data: &[u8], placement: Placement<'_>) -> Report {
        sorted(|found| self.section_each(data, placement, found))
    }

    /// Like [`Checker::section`], but passes each finding to `found` as soon as it is made, so that memory does not
    /// grow with the number of findings.
    ///
    /// Findings arrive in the order of the check: those about the header, about each function and its rows, and about
    /// the section as a whole. The returned report contains none.
    pub fn section_each(
        &self,
        data: &[u8],
        placement: Placement<'_>,
        found: &mut dyn FnMut(Finding),
    ) -> Report {
        let mut run = Run::new(self, found);
        let summary = SectionSummary {
            index: None,
            name: ".sframe".to_owned(),
            address: placement.address,
            file_offset: 0,
            size: data.len() as u64,
            header: None,
            certain_layout: false,
            functions: 0,
            rows: 0,
            covered_bytes: 0,
        };
        run.report.sections.push(summary);
        let code = CodeMap::unknown();
        let surroundings =
            Surroundings { elf: None, code: &code, executable: &code, dynamic: &[], facts: None };
        let preamble = PreambleContext { data, endian: placement.endian };
        let section = Section::parse(data, placement);
        let kind = if self.linked { FileKind::Linked } else { FileKind::Bare };
        run.check_section(&preamble, section, kind, &surroundings);
        run.finish()
    }

    /// Checks every SFrame section of an ELF file, and the parts of the file that concern them.
    #[must_use]
    pub fn elf(&self, file: &Elf<'_>) -> Report {
        let contents: Vec<_> = file.sframe_contents().collect();
        sorted(|found| self.contents_each(file, &contents, found))
    }

    /// Like [`Checker::elf`], for a caller that has read the sections: `contents` are the file's
    /// [`Elf::sframe_contents`]. It passes each finding to `found`, like [`Checker::section_each`].
    pub fn contents_each(
        &self,
        file: &Elf<'_>,
        contents: &[SframeSection<'_>],
        found: &mut dyn FnMut(Finding),
    ) -> Report {
        let mut run = Run::new(self, found);
        let (code, executable) = (CodeMap::of(file.code()), CodeMap::of(file.executable()));
        run.report.code_bytes = code.size();
        if contents.is_empty() {
            // A section says by itself which code it describes.
            run.report.undecided.extend(missing::section_headers(file));
            run.report.undecided.extend(missing::code(file));
        }
        let dynamic = run.dynamic_relocations(file);
        let facts = run.facts(file);
        let surroundings = Surroundings {
            elf: Some(file),
            code: &code,
            executable: &executable,
            dynamic: &dynamic,
            facts: facts.as_ref(),
        };
        for sframe in contents {
            run.check_elf_section(file, sframe, &surroundings);
        }
        let further = file.further_sframe_sections();
        if further > 0 {
            let reason = format!(
                "{further} more SFrame sections not checked: a file should have one, and the \
                 first {} were checked",
                Elf::MOST_SFRAME_SECTIONS
            );
            run.undecided_file(UndecidedCause::FurtherSections, reason);
        }
        run.finish()
    }

    /// Checks a set of sections that are to be linked into one, such as those of an archive's members or a linker's
    /// inputs. Each input is a name and the header of a section that was checked by itself.
    ///
    /// The report contains no sections; its findings are about the set.
    #[must_use]
    pub fn link_set(&self, inputs: &[(&str, HeaderSummary)]) -> Report {
        sorted(|found| {
            let mut run = Run::new(self, found);
            run.apply(None, |check, reporter| {
                if let Check::LinkSet(check) = check {
                    check(inputs, reporter);
                }
            });
            run.finish()
        })
    }
}

/// Runs a check, and returns its report with the findings sorted by section and offset.
fn sorted(check: impl FnOnce(&mut dyn FnMut(Finding)) -> Report) -> Report {
    let mut findings = Vec::new();
    let report = check(&mut |finding| findings.push(finding));
    findings.sort_by_key(|finding: &Finding| (finding.section, finding.offset));
    Report { findings, ..report }
}

/// The properties of the file that all its SFrame sections share.
#[derive(Clone, Copy)]
struct Surroundings<'a> {
    elf: Option<&'a Elf<'a>>,
    code: &'a CodeMap,
    /// The places where functions can be, including those without bytes in the file.
    executable: &'a CodeMap,
    /// The addresses in SFrame sections to which dynamic relocations apply.
    dynamic: &'a [u64],
    /// The rest of the file; only if lints are checked.
    facts: Option<&'a FileFacts<'a>>,
}

struct Run<'o> {
    checker: &'o Checker<'o>,
    collector: Collector<'o>,
    report: Report,
}

impl<'o> Run<'o> {
    fn new(checker: &'o Checker<'o>, found: &'o mut dyn FnMut(Finding)) -> Run<'o> {
        let collector = Collector::new(CATALOGUE, checker.options.keep, found);
        Run { checker, collector, report: Report::default() }
    }

    fn finish(mut self) -> Report {
        self.report.counts = self.collector.counts().collect();
        self.report
    }

    /// Adds something about the current section that was not checked.
    fn undecided(&mut self, cause: UndecidedCause, reason: String) {
        let section = self.report.sections.len().checked_sub(1);
        self.report.undecided.push(Undecided { section, cause, reason });
    }

    /// Adds something about the file that was not checked.
    fn undecided_file(&mut self, cause: UndecidedCause, reason: String) {
        self.report.undecided.push(Undecided { section: None, cause, reason });
    }

    /// The addresses in any SFrame section to which dynamic relocations apply.
    fn dynamic_relocations(&mut self, file: &Elf<'_>) -> Vec<u64> {
        let linked = file.kind() != ElfKind::Relocatable;
        let loaded = |s: &&ElfSection<'_>| linked && s.flags & SHF_ALLOC != 0 && s.size > 0;
        let sections = || file.sframe_sections().filter(loaded);
        let Some(start) = sections().map(|section| section.address).min() else {
            return Vec::new();
        };
        let end = sections().map(|section| section.address.saturating_add(section.size)).max();
        file.dynamic_relocations(start, end.unwrap_or(start)).unwrap_or_else(|error| {
            let reason = format!("dynamic relocations not checked: {error}");
            self.undecided_file(UndecidedCause::DynamicRelocations, reason);
            Vec::new()
        })
    }

    /// The rest of the file, which only lints use.
    fn facts<'a>(&mut self, elf: &'a Elf<'a>) -> Option<FileFacts<'a>> {
        elf.sframe_sections().next().filter(|_| self.checker.options.pedantic)?;
        let (facts, error) = FileFacts::of(elf, self.checker.amd64);
        if let Some(error) = error {
            self.undecided(UndecidedCause::Symbols, format!("symbols not compared: {error}"));
        }
        Some(facts)
    }

    fn check_elf_section(
        &mut self,
        elf: &Elf<'_>,
        sframe: &SframeSection<'_>,
        surroundings: &Surroundings<'_>,
    ) {
        let mut header = sframe.header;
        self.report.sections.push(SectionSummary {
            index: Some(header.index),
            name: section_name(&header),
            address: header.address,
            file_offset: header.offset,
            size: header.size,
            header: None,
            certain_layout: false,
            functions: 0,
            rows: 0,
            covered_bytes: 0,
        });
        if let Err(error) = sframe.data {
            self.undecided(UndecidedCause::SectionBytes, error.to_string());
            if error == ElfError::SharedBytes {
                return;
            }
        }
        let data = sframe.data.unwrap_or_default();
        if header.is_segment() && sframe.data.is_ok() {
            header.size = data.len() as u64;
        }
        let kind = match elf.kind() {
            ElfKind::Relocatable => FileKind::Relocatable,
            ElfKind::Executable | ElfKind::Shared | ElfKind::Core | ElfKind::Other(_) => {
                FileKind::Linked
            }
        };
        if let Err(error) = &sframe.relocations {
            self.undecided(
                UndecidedCause::SectionRelocations,
                format!("relocations of the section not checked: {error}"),
            );
        }
        let placement = sframe.placement().unwrap_or(Placement::relocated(&[]));
        let placement = placement.with_endian(Some(elf.endian()));
        let section = Section::parse(data, placement);
        let file = FileContext {
            elf,
            sframe: &header,
            section: section.as_ref().ok(),
            relocations: sframe.relocations.as_ref().ok(),
            dynamic: surroundings.dynamic,
            kind,
        };
        self.apply(file.section, |check, reporter| {
            if let Check::File(check) = check {
                check(&file, reporter);
            }
        });
        let in_file = header.sh_type != SHT_NOBITS && sframe.data.is_ok();
        if header.sh_type == SHT_NOBITS {
            self.undecided(
                UndecidedCause::SectionBytes,
                "the section's bytes are not in this file (SHT_NOBITS)".to_owned(),
            );
        }
        // In a 32-bit file, no field of the section has the meaning that the format defines.
        let removed = header.is_segment() && data.is_empty();
        if in_file && !removed && elf.class() == Class::Elf64 {
            let preamble = PreambleContext { data, endian: placement.endian };
            self.check_section(&preamble, section, kind, surroundings);
        }
    }

    fn check_section(
        &mut self,
        preamble: &PreambleContext<'_>,
        section: Result<Section<'_>, Error>,
        kind: FileKind,
        surroundings: &Surroundings<'_>,
    ) {
        let before = self.collector.total();
        self.apply(None, |check, reporter| {
            if let Check::Preamble(check) = check {
                check(preamble, reporter);
            }
        });
        let section = match section {
            Ok(section) => section,
            Err(error) => {
                if self.collector.total() == before {
                    self.undecided(
                        UndecidedCause::Header,
                        format!("the header cannot be read: {error}"),
                    );
                }
                return;
            }
        };
        if let Some(summary) = self.report.sections.last_mut() {
            summary.header = Some(HeaderSummary::of(&section));
        }
        let whole = SectionContext { section: &section, kind };
        self.apply(Some(&section), |check, reporter| {
            if let Check::Section(check) = check {
                check(&whole, reporter);
            }
        });
        let before = self.collector.total();
        self.apply(Some(&section), |check, reporter| {
            if let Check::Layout(check) = check {
                check(&whole, reporter);
            }
        });
        if self.collector.total() > before {
            self.undecided(
                UndecidedCause::Layout,
                "functions and rows not checked: the header does not say for certain where and \
                 how they are stored"
                    .to_owned(),
            );
            return;
        }
        self.check_functions(&whole, surroundings);
    }

    fn check_functions(&mut self, whole: &SectionContext<'_>, surroundings: &Surroundings<'_>) {
        let selection = Selection::of(whole.section, &self.checker.options);
        let position = self.report.sections.len().checked_sub(1);
        let mut walk =
            Walk::new(whole, surroundings.executable, &selection, position, self.checker.confirm);
        let surveyed = walk.survey();
        // Rows that belong to another function read as nonsense. The overlap is the actual defect.
        let suspects = surveyed.extents.sharing_rows();
        walk.report(&surveyed, &suspects, &mut self.collector);
        let Surveyed { extents, totals, .. } = surveyed;
        self.summarise(whole, &extents, &totals, surroundings.code);
        let &Surroundings { elf, facts, .. } = surroundings;
        let total = TotalContext { whole, totals: &totals, extents: &extents, elf, facts };
        self.apply(Some(whole.section), |check, reporter| {
            if let Check::Total(check) = check {
                check(&total, reporter);
            }
        });
    }

    fn summarise(
        &mut self,
        whole: &SectionContext<'_>,
        extents: &Extents,
        totals: &Totals,
        code: &CodeMap,
    ) {
        if let Some(summary) = self.report.sections.last_mut() {
            summary.certain_layout = true;
            summary.functions = totals.functions;
            summary.rows = totals.rows;
            let hidden = whole.section.hidden_functions();
            let hidden: Vec<_> = hidden.filter_map(|(entry, _)| entry.start().ok()).collect();
            summary.covered_bytes = extents.covered_bytes(code, &hidden);
        }
    }

    /// Runs the rules of one kind that apply to a section. If its header cannot be read, only rules for every version
    /// and ABI run.
    fn apply(&mut self, section: Option<&Section<'_>>, run: impl Fn(&Check, &mut Reporter<'_>)) {
        let position = self.report.sections.len().checked_sub(1);
        for (index, entry) in applicable(section, &self.checker.options) {
            let Some(check) = &entry.check else { continue };
            let mut reporter = Reporter {
                collector: &mut self.collector,
                rule: index,
                section: position,
                function: None,
                row: None,
                subject: 0..0,
                doubt: None,
                reported: false,
            };
            run(check, &mut reporter);
        }
    }
}

/// The section's name as text, truncated to a readable length.
fn section_name(section: &ElfSection<'_>) -> String {
    let name = section.name.bytes();
    Text::of(name.get(..64).unwrap_or(name)).to_string()
}
