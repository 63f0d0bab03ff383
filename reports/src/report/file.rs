//! One file or member: what became of it, and what was found in it.

use std::path::PathBuf;

use sframe_validator::elf::{Elf, SymbolTable};
use sframe_validator::finding::{Finding, Report, SectionSummary, Undecided};
use sframe_validator::rules::Rule;
use sframe_validator::section::CodeAddress;

use super::context::Context;
use crate::input::{SectionSource, Special};
use crate::printable::{printable, printable_path};

/// A file, or a member of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileName {
    /// The file.
    pub path: PathBuf,
    /// The member's name, where the file is an archive.
    pub member: Option<Vec<u8>>,
}

impl FileName {
    /// `lib.a(member.o)`, fit for a terminal.
    #[must_use]
    pub fn display(&self) -> String {
        let path = printable_path(&self.path);
        match &self.member {
            Some(_) => format!("{path}({})", self.member_display()),
            None => path,
        }
    }

    /// `member.o`, fit for a terminal; empty where the file is no archive.
    #[must_use]
    pub fn member_display(&self) -> String {
        self.member.as_deref().map(printable).unwrap_or_default()
    }
}

/// What is to be said of one file.
#[derive(Clone, Debug)]
pub struct FileReport {
    /// Which.
    pub name: FileName,
    /// What became of it.
    pub outcome: Outcome,
}

/// What became of a file.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It was checked; it may have no section.
    Checked(Box<Checked>),
    /// The members of an archive taken together: what is wrong with them as inputs of one link.
    Members(Box<Checked>),
    /// An ELF file of a kind that SFrame is not defined for, and without a section; which kind.
    Unsupported(String),
    /// No ELF file.
    NotElf,
    /// A file of no bytes.
    Empty,
    /// Not a regular file.
    Special(Special),
    /// It could not be read, why.
    Unreadable(String),
}

/// What was found in a file.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The findings that were kept, in the order of the section's bytes.
    pub findings: Vec<LocatedFinding>,
    /// How often each rule was broken, in the catalogue's order.
    pub counts: Vec<(&'static Rule, u64)>,
    /// What was not checked.
    pub undecided: Vec<Undecided>,
    /// The sections.
    pub sections: Vec<SectionSummary>,
    /// Bytes of executable code, none where the file is one bare section.
    pub code_bytes: u64,
}

/// A finding with the names that its file has for the place.
#[derive(Clone, Debug)]
pub struct LocatedFinding {
    /// The finding.
    pub finding: Finding,
    /// The symbol at the function's start.
    pub symbol: Option<SymbolPlace>,
    /// The name of the code section that the function's start counts from, in relocatable objects.
    pub code_section: Option<String>,
    /// The section's bytes around the defect, decoded.
    pub context: Option<Context>,
}

/// A place by symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolPlace {
    /// The symbol's name, its bytes.
    pub name: Vec<u8>,
    /// Bytes from the symbol's start.
    pub offset: u64,
}

impl Checked {
    /// The report on a file, with names and bytes from the file itself.
    #[must_use]
    pub fn new(report: Report, sources: &[SectionSource<'_>], elf: Option<&Elf<'_>>) -> Checked {
        let Report { findings, counts, undecided, sections, code_bytes } = report;
        let needs_symbols = findings.iter().any(|finding| finding.function.is_some());
        let symbols = elf
            .filter(|_| needs_symbols)
            .and_then(|elf| SymbolTable::load(elf).ok())
            .unwrap_or_default();
        let locate = |finding: Finding| {
            let start = finding.function.and_then(|function| function.start);
            let summary = finding.section.and_then(|position| sections.get(position));
            let source = summary
                .and_then(|summary| sources.iter().find(|source| source.index == summary.index));
            LocatedFinding {
                symbol: start.and_then(|start| symbol_at(&symbols, start)),
                code_section: elf.zip(start).and_then(|(elf, start)| section_name(elf, start)),
                context: source.and_then(|source| Context::of(&finding, source)),
                finding,
            }
        };
        let findings = findings.into_iter().map(locate).collect();
        Checked { findings, counts, undecided, sections, code_bytes }
    }
}

fn symbol_at(symbols: &SymbolTable<'_>, start: CodeAddress) -> Option<SymbolPlace> {
    let symbol = symbols.find(start)?;
    let offset = start.address.wrapping_sub(symbol.start.address);
    Some(SymbolPlace { name: symbol.name.to_vec(), offset })
}

fn section_name(elf: &Elf<'_>, start: CodeAddress) -> Option<String> {
    (start.section != 0).then(|| elf.section(start.section).map(|s| printable(s.name)))?
}
