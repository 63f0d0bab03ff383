//! Compares the SFrame sections of two files, such as the output of two assemblers for the same source, the builds of
//! two days, or version 2 and version 3.

mod changes;
mod file;
pub mod json;
mod packages;
mod text;

pub use packages::{Comparison, diff_inputs};
pub use text::Text;

use std::path::{Path, PathBuf};

use sframe_oracle::diff::{Change, Matching, Totals, diff};
use sframe_oracle::witness::SframeFunction;
use sframe_validator::finding::Keep;
use sframe_validator::{Abi, Section, Version};

use changes::Changes;
use file::File;
use sframe_record::Instruction;
use sframe_scan::describe::Tables;

/// The options of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct DiffOptions {
    /// How code is matched. `None` matches by address if both files have code at the same addresses, else by symbol.
    pub matching: Option<Matching>,
    /// The number of differing functions to keep; all of them are counted.
    pub keep: Keep,
}

/// The result of a comparison.
#[derive(Clone, Debug)]
pub struct Report {
    /// The first file.
    pub first: ComparedFile,
    /// The second file.
    pub second: ComparedFile,
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
    /// Its sections.
    pub sections: Vec<SectionInShort>,
}

/// A summary of a section.
#[derive(Clone, Copy, Debug)]
pub struct SectionInShort {
    /// The version.
    pub version: Version,
    /// The machine, if it is known.
    pub abi: Option<Abi>,
    /// The number of functions.
    pub functions: u32,
}

impl SectionInShort {
    fn of(section: &Section<'_>) -> SectionInShort {
        SectionInShort {
            version: section.header().version,
            abi: section.abi().ok(),
            functions: section.entry_count(),
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
    pub ranges: Vec<(u64, u64, Change)>,
    /// Both tables of rows around the first range that differs.
    pub tables: Option<Tables>,
    /// The instructions of that range, if they are the same in both files.
    pub code: Vec<Instruction<'static>>,
}

/// The place of a function in one file.
#[derive(Clone, Debug)]
pub struct FunctionPlace {
    /// The function according to the sections.
    pub function: SframeFunction,
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
    pub const fn is_incomplete(&self) -> bool {
        let totals = &self.totals;
        let unnamed = totals.unnamed_first + totals.unnamed_second;
        totals.undecided + unnamed + totals.unplaced > 0
    }
}

/// Why a file cannot be compared.
#[derive(Clone, Debug)]
pub struct Error {
    /// The file.
    pub path: PathBuf,
    /// The reason.
    pub why: String,
}

/// Compares the sections of two ELF files, given as their names and bytes.
fn diff_files(
    (first, first_data): (&Path, &[u8]),
    (second, second_data): (&Path, &[u8]),
    options: &DiffOptions,
) -> Result<Report, Error> {
    let of = |path: &Path, why| Error { path: path.to_owned(), why };
    let first_file = File::load(first_data).map_err(|why| of(first, why))?;
    let second_file = File::load(second_data).map_err(|why| of(second, why))?;
    let first_sections = first_file.sections().map_err(|why| of(first, why))?;
    let second_sections = second_file.sections().map_err(|why| of(second, why))?;
    let matching = options.matching.unwrap_or_else(|| match first_file.same_code(&second_file) {
        true => Matching::Address,
        false => Matching::Symbol,
    });
    let sets = (first_file.set(&first_sections), second_file.set(&second_sections));
    let mut changes = Changes::new(&sets.0, &sets.1, options.keep);
    let totals = diff(&sets.0, &sets.1, matching, |range| changes.add(range));
    let (functions, more) = changes.finish();
    let side = |path: &Path, sections: &[Section<'_>]| ComparedFile {
        path: path.to_owned(),
        sections: sections.iter().map(SectionInShort::of).collect(),
    };
    Ok(Report {
        first: side(first, &first_sections),
        second: side(second, &second_sections),
        matching,
        totals,
        functions,
        more,
    })
}
