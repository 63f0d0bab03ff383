//! The SFrame sections of two files laid over each other: two assemblers' sections of one source,
//! yesterday's build and today's, version 2 and version 3.

mod changes;
mod file;
pub mod json;
mod text;

pub use text::Text;

use std::path::{Path, PathBuf};

use sframe_oracle::diff::{Change, Matching, Totals, diff};
use sframe_oracle::witness::SframeFunction;
use sframe_validator::finding::Keep;
use sframe_validator::{Abi, Section, Version};

use crate::record::Tables;
use changes::Changes;
use file::File;
use sframe_input::plain_error;
use sframe_record::Instruction;

/// What to compare, and how much of it to keep.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How code is matched; `None`: by address where both files have code at the same addresses,
    /// else by symbol.
    pub matching: Option<Matching>,
    /// How many functions that differ to keep; all of them are counted.
    pub keep: Keep,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Report {
    /// The first file.
    pub first: Side,
    /// The second file.
    pub second: Side,
    /// How code was matched.
    pub matching: Matching,
    /// Bytes and functions.
    pub totals: Totals,
    /// The functions that differ, the first ones of them.
    pub functions: Vec<FunctionChange>,
    /// How many more there are.
    pub more: u64,
}

/// One of the two files.
#[derive(Clone, Debug)]
pub struct Side {
    /// Its path.
    pub path: PathBuf,
    /// Its sections.
    pub sections: Vec<SectionInShort>,
}

/// What a section is.
#[derive(Clone, Copy, Debug)]
pub struct SectionInShort {
    /// The version.
    pub version: Version,
    /// The machine, where it is a known one.
    pub abi: Option<Abi>,
    /// Number of functions.
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

/// A function that is not the same on both sides.
#[derive(Clone, Debug)]
pub struct FunctionChange {
    /// Its symbol, or the section of stubs, on either side; empty where there is none.
    pub name: Vec<u8>,
    /// Where it is in the first file.
    pub first: Option<Place>,
    /// Where it is in the second file.
    pub second: Option<Place>,
    /// What became of which PCs: addresses, or matched by symbol, bytes from the function's start.
    pub ranges: Vec<(u64, u64, Change)>,
    /// Both tables of rows around the first range that differs.
    pub tables: Option<Tables>,
    /// That range's instructions, where both files have the same there.
    pub code: Vec<Instruction<'static>>,
}

/// The place of a function in one file.
#[derive(Clone, Debug)]
pub struct Place {
    /// Where the sections' functions say it is.
    pub function: SframeFunction,
    /// The name of the code section that the start counts from, in relocatable objects.
    pub code_section: Option<String>,
}

impl Report {
    /// Whether the sides say something else about some PC.
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
    /// Why.
    pub why: String,
}

/// Compares the sections of two ELF files.
///
/// # Errors
/// Which of the files cannot be compared, and why: it cannot be read, is no ELF file, or has no
/// SFrame section that can be read.
pub fn diff_files(first: &Path, second: &Path, options: &Options) -> Result<Report, Error> {
    let of = |path: &Path, why| Error { path: path.to_owned(), why };
    let first_data = file::read(first).map_err(|why| of(first, why))?;
    let second_data = file::read(second).map_err(|why| of(second, why))?;
    let first_file = File::load(&first_data).map_err(|why| of(first, why))?;
    let second_file = File::load(&second_data).map_err(|why| of(second, why))?;
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
    for (path, data) in [(first, &first_data), (second, &second_data)] {
        data.intact().map_err(|error| of(path, plain_error(&error)))?;
    }
    let side = |path: &Path, sections: &[Section<'_>]| Side {
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
