//! Compares what two files say about their frames, such as the output of two assemblers, compilers or linkers for the
//! same source, the builds of two days, or version 2 and version 3 of SFrame.

mod changes;
mod error;
mod file;
pub mod json;
mod packages;
mod text;

pub use error::{Error, NotComparable};
pub use packages::{Comparison, diff_inputs};
pub use text::Text;

use std::path::{Path, PathBuf};

use serde::Serialize;
use sframe_oracle::cfi::{Cfi, CfiSource};
use sframe_oracle::code::Program;
use sframe_oracle::diff::{Change, Function, Matching, Range, Set, Source, Totals, diff};
use sframe_validator::finding::Keep;
use sframe_validator::{Abi, Section, Version};

use changes::Changes;
use file::File;
use sframe_record::Instruction;
use sframe_scan::describe::Tables;

/// The options of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct DiffOptions {
    /// The rows that are compared. `None` compares SFrame if both files have it, and call frame information if neither has.
    pub from: Option<RowsFrom>,
    /// How code is matched. `None` matches by address if both files have code at the same addresses, else by symbol.
    pub matching: Option<Matching>,
    /// The number of differing functions to keep; all of them are counted.
    pub keep: Keep,
}

/// Where the rows that are compared come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RowsFrom {
    /// SFrame sections.
    Sframe,
    /// Call frame information.
    Cfi,
    /// The machine code, as far as it proves them.
    Code,
}

/// The result of a comparison.
#[derive(Clone, Debug)]
pub struct Report {
    /// The first file.
    pub first: ComparedFile,
    /// The second file.
    pub second: ComparedFile,
    /// Where the rows come from.
    pub from: RowsFrom,
    /// How code was matched.
    pub matching: Matching,
    /// Bytes and functions.
    pub totals: Totals,
    /// The first functions that differ.
    pub functions: Vec<FunctionChange>,
    /// The number of further functions that differ.
    pub more: u64,
}

/// One of the two files.
#[derive(Clone, Debug)]
pub struct ComparedFile {
    /// Its path.
    pub path: PathBuf,
    /// What was compared.
    pub sources: Vec<SourceInShort>,
}

/// A summary of a section, or of a file's machine code.
#[derive(Clone, Copy, Debug)]
pub struct SourceInShort {
    /// What it is.
    pub kind: SourceKind,
    /// The machine, if it is known.
    pub abi: Option<Abi>,
    /// The number of functions.
    pub functions: u64,
}

/// What rows were read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// An SFrame section of this version.
    Sframe(Version),
    /// A section of call frame information with this name.
    Cfi(&'static str),
    /// The machine code.
    Code,
}

impl SourceInShort {
    fn all_of(source: Source<'_>, abi: Option<Abi>) -> Vec<SourceInShort> {
        match source {
            Source::Sframe(sections) => sections.iter().map(SourceInShort::of_section).collect(),
            Source::Cfi(cfi) => {
                let of = |cfi: &Cfi<'_>| SourceInShort {
                    kind: SourceKind::Cfi(cfi.name()),
                    abi,
                    functions: cfi.len() as u64,
                };
                cfi.iter().filter(|cfi| !cfi.is_empty()).map(of).collect()
            }
            Source::Code(code) => {
                let functions = code.ranges().len() as u64;
                vec![SourceInShort { kind: SourceKind::Code, abi, functions }]
            }
        }
    }

    fn of_section(section: &Section<'_>) -> SourceInShort {
        SourceInShort {
            kind: SourceKind::Sframe(section.header().version),
            abi: section.abi().ok(),
            functions: section.entry_count().into(),
        }
    }
}

/// A function that differs.
#[derive(Clone, Debug)]
pub struct FunctionChange {
    /// Its symbol, or the section of stubs, in either file; empty if there is none.
    pub name: Vec<u8>,
    /// Its place in the first file.
    pub first: Option<FunctionPlace>,
    /// Its place in the second file.
    pub second: Option<FunctionPlace>,
    /// The changes by range of PCs: addresses or, if matched by symbol, offsets from the function's start.
    pub ranges: Vec<ChangedRange>,
    /// Both tables of rows around the first range that differs.
    pub tables: Option<Tables>,
    /// The instructions of that range, if they are the same in both files.
    pub code: Vec<Instruction<'static>>,
}

/// A range of PCs that differs.
#[derive(Clone, Copy, Debug)]
pub struct ChangedRange {
    /// The first PC.
    pub start: u64,
    /// The first PC after the range.
    pub end: u64,
    /// What differs.
    pub change: Change,
}

impl From<&Range<'_>> for ChangedRange {
    fn from(range: &Range<'_>) -> ChangedRange {
        ChangedRange { start: range.start, end: range.end, change: range.change }
    }
}

/// The place of a function in one file.
#[derive(Clone, Debug)]
pub struct FunctionPlace {
    /// The function.
    pub function: Function,
    /// In relocatable objects, the name of the code section that the start is relative to.
    pub code_section: Option<String>,
}

impl Report {
    /// Whether the files differ for any PC.
    #[must_use]
    pub const fn is_different(&self) -> bool {
        self.totals.different + self.totals.only_first + self.totals.only_second > 0
    }

    /// Whether something could not be compared.
    #[must_use]
    pub fn is_incomplete(&self) -> bool {
        let totals = &self.totals;
        let unnamed = totals.unnamed_first + totals.unnamed_second;
        // Padding proves nothing, so there is always something of that kind in machine code.
        let undecided = if self.from == RowsFrom::Code { 0 } else { totals.undecided };
        undecided + unnamed + totals.unplaced > 0
    }
}

/// Compares two ELF files, given as their names and bytes.
fn diff_files(
    (first, first_data): (&Path, &[u8]),
    (second, second_data): (&Path, &[u8]),
    options: &DiffOptions,
) -> Result<Report, Error> {
    let in_first = |why: NotComparable| why.of(first);
    let in_second = |why: NotComparable| why.of(second);
    let a = File::load(first_data).map_err(in_first)?;
    let b = File::load(second_data).map_err(in_second)?;
    let from = match (options.from, a.has_sframe(), b.has_sframe()) {
        (Some(from), ..) => from,
        (None, true, true) => RowsFrom::Sframe,
        (None, false, false) => RowsFrom::Cfi,
        (None, true, false) => return Err(NotComparable::OnlyOneSection.of(second)),
        (None, false, true) => return Err(NotComparable::OnlyOneSection.of(first)),
    };
    let compare = |sources| compare((first, &a), (second, &b), sources, options);
    if from == RowsFrom::Sframe {
        let sections = (a.sections().map_err(in_first)?, b.sections().map_err(in_second)?);
        return Ok(compare((Source::Sframe(&sections.0), Source::Sframe(&sections.1))));
    }
    let (a_cfi, b_cfi) = (CfiSource::of(&a.elf), CfiSource::of(&b.elf));
    let load = |cfi| match from {
        // Without call frame information, symbols say where functions start.
        RowsFrom::Code => file::load_cfi(cfi).or_else(|_| Ok(Vec::new())),
        _ => file::load_cfi(cfi),
    };
    let cfi = (load(&a_cfi).map_err(in_first)?, load(&b_cfi).map_err(in_second)?);
    if from == RowsFrom::Cfi {
        return Ok(compare((Source::Cfi(&cfi.0), Source::Cfi(&cfi.1))));
    }
    let program: (Program<'_>, Program<'_>) =
        (a.program(&cfi.0).map_err(in_first)?, b.program(&cfi.1).map_err(in_second)?);
    Ok(compare((Source::Code(&program.0), Source::Code(&program.1))))
}

/// Compares two files by rows of one kind.
fn compare<'s>(
    (first, a): (&Path, &'s File<'s>),
    (second, b): (&Path, &'s File<'s>),
    sources: (Source<'s>, Source<'s>),
    options: &DiffOptions,
) -> Report {
    let matching = options.matching.unwrap_or_else(|| match a.same_code(b) {
        true => Matching::Address,
        false => Matching::Symbol,
    });
    let sets = (
        Set { source: sources.0, elf: &a.elf, symbols: &a.symbols },
        Set { source: sources.1, elf: &b.elf, symbols: &b.symbols },
    );
    let mut changes = Changes::new(&sets.0, &sets.1, options.keep);
    let totals = diff(&sets.0, &sets.1, matching, |range| changes.add(range));
    let (functions, more) = changes.finish();
    let side = |path: &Path, set: &Set<'_>| ComparedFile {
        path: path.to_owned(),
        sources: SourceInShort::all_of(set.source, set.elf.abi()),
    };
    let from = match sources.0 {
        Source::Sframe(_) => RowsFrom::Sframe,
        Source::Cfi(_) => RowsFrom::Cfi,
        Source::Code(_) => RowsFrom::Code,
    };
    Report {
        first: side(first, &sets.0),
        second: side(second, &sets.1),
        from,
        matching,
        totals,
        functions,
        more,
    }
}
