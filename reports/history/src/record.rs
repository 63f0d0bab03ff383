//! What a scan has to say of one file: the lines of `sframe-check --format ndjson`, read again.
//!
//! A field that is not known here is skipped, and one that is missing is empty: fields are added
//! within a version of the format. Strings are borrowed from the line where nothing in them is
//! escaped.
//!
//! ```
//! use sframe_history::Record;
//!
//! let line = r#"{"type":"file","path":"a.o","status":"checked","code_bytes":8,
//!     "counts":[{"rule":"cfa-mismatch","severity":"error","count":2,"files":1}]}"#;
//! let record = Record::parse(line)?;
//! assert_eq!((record.path.as_str(), record.code_bytes), ("a.o", 8));
//! assert_eq!(record.counts[0].count, 2);
//! # Ok::<(), serde_json::Error>(())
//! ```

mod coverage;
mod finding;
mod value;

pub use coverage::{Coverage, CoveredFunctions, FunctionPlace, Limit, Loss, Verdicts};
pub use finding::{
    Code, Difference, Field, Finding, Function, Instruction, Severity, Side, Similar, TableLine,
};
pub use value::{Address, Text};

use serde::Deserialize;

/// One file, or one member of a package or archive.
///
/// Damage is an error with its line and column: a wrong type, a status or severity that is none, a
/// file without a path or a status.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Record<'r> {
    /// The path as it was given or found; where it is not valid UTF-8, with `\xNN` for the bytes
    /// that are not text.
    #[serde(borrow)]
    pub path: Text<'r>,
    /// The path's bytes in hexadecimal, where they are not valid UTF-8.
    #[serde(borrow, default)]
    pub path_hex: Option<Text<'r>>,
    /// The path of the file in the package at `path`.
    #[serde(borrow, default)]
    pub inside: Option<Text<'r>>,
    /// That path in hexadecimal, where it is not valid UTF-8.
    #[serde(borrow, default)]
    pub inside_hex: Option<Text<'r>>,
    /// The member of the archive there.
    #[serde(borrow, default)]
    pub member: Option<Text<'r>>,
    /// The member's name in hexadecimal, where it is not valid UTF-8.
    #[serde(borrow, default)]
    pub member_hex: Option<Text<'r>>,
    /// The file's bytes.
    #[serde(borrow, default)]
    pub content: Option<Content<'r>>,
    /// The package it is in, where that says so itself.
    #[serde(borrow, default)]
    pub package: Option<Package<'r>>,
    /// What made the file.
    #[serde(borrow, default)]
    pub producers: Vec<Producer<'r>>,
    /// What became of it.
    pub status: Status,
    /// Why it was not checked, or which kind of file it is.
    #[serde(borrow, default)]
    pub reason: Option<Text<'r>>,
    /// Bytes of loaded, executable sections.
    #[serde(default)]
    pub code_bytes: u64,
    /// Bytes of code that functions of the sections describe.
    #[serde(default)]
    pub covered_bytes: u64,
    /// Its SFrame sections.
    #[serde(borrow, default)]
    pub sections: Vec<Section<'r>>,
    /// How often each rule was broken: exact, also where `findings` are the first few.
    #[serde(borrow, default)]
    pub counts: Vec<RuleCount<'r>>,
    /// The findings, of each rule the first few, or all.
    #[serde(borrow, default)]
    pub findings: Vec<Finding<'r>>,
    /// What was not checked, and why.
    #[serde(borrow, default)]
    pub undecided: Vec<Undecided<'r>>,
    /// What SFrame and CFI describe of its code, where that was looked at.
    #[serde(borrow, default)]
    pub coverage: Option<Coverage<'r>>,
}

impl<'r> Record<'r> {
    /// Reads one line, or one element of a document's `files`.
    ///
    /// # Errors
    /// The line is no JSON, or no file's: with line and column in it.
    pub fn parse(line: &'r str) -> Result<Record<'r>, serde_json::Error> {
        serde_json::from_str(line)
    }
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It has SFrame sections, and they were checked.
    Checked,
    /// The members of an archive taken together.
    Archive,
    /// An ELF file without an SFrame section.
    NoSection,
    /// An ELF file of a kind that SFrame is not defined for.
    Unsupported,
    /// Not an ELF file, or empty.
    NotElf,
    /// Not a regular file.
    Special,
    /// It could not be read, or is a damaged ELF file.
    Unreadable,
    /// Checking it ended the checker, or was ended at a limit.
    Crashed,
}

/// A file's bytes in short.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Content<'r> {
    /// How many.
    pub size: u64,
    /// Their BLAKE3 hash, 64 hexadecimal digits.
    #[serde(borrow)]
    pub hash: Text<'r>,
}

/// The package a file is in, as it names itself.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Package<'r> {
    /// Its name, without a version.
    #[serde(borrow)]
    pub name: Text<'r>,
    /// Its version.
    #[serde(borrow, default)]
    pub version: Option<Text<'r>>,
    /// Its machine, in the distribution's own word.
    #[serde(borrow, default)]
    pub architecture: Option<Text<'r>>,
    /// The source package it was built from.
    #[serde(borrow, default)]
    pub source: Option<Text<'r>>,
}

/// A program that made the file, or a part of it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Producer<'r> {
    /// `compiler`, `assembler`, `linker` or `other`.
    #[serde(borrow)]
    pub kind: Text<'r>,
    /// Its name, such as `GCC`.
    #[serde(borrow)]
    pub name: Text<'r>,
    /// Its version, where it says one.
    #[serde(borrow, default)]
    pub version: Option<Text<'r>>,
    /// What the file says, word by word.
    #[serde(borrow, default)]
    pub text: Option<Text<'r>>,
}

/// An SFrame section.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Section<'r> {
    /// Index in the section header table.
    #[serde(default)]
    pub index: Option<u32>,
    /// Its name.
    #[serde(borrow, default)]
    pub name: Text<'r>,
    /// Its address.
    #[serde(default)]
    pub address: Address,
    /// Offset of its first byte in the file.
    #[serde(default)]
    pub file_offset: u64,
    /// Bytes.
    #[serde(default)]
    pub size: u64,
    /// What its header says, where it can be read.
    #[serde(borrow, default)]
    pub header: Option<Header<'r>>,
    /// Functions that were read.
    #[serde(default)]
    pub functions: u64,
    /// Rows that were read.
    #[serde(default)]
    pub rows: u64,
    /// Bytes of code that its functions describe.
    #[serde(default)]
    pub covered_bytes: u64,
}

/// The header, as far as it says what the section is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Header<'r> {
    /// 1, 2 or 3.
    pub version: u8,
    /// `sfp_flags`.
    #[serde(default)]
    pub flags: u8,
    /// `AMD64`, `AArch64`, `AArch64-BE` or `s390x`.
    #[serde(borrow, default)]
    pub abi: Option<Text<'r>>,
    /// `little` or `big`.
    #[serde(borrow, default)]
    pub endian: Text<'r>,
}

/// How often a rule was broken.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct RuleCount<'r> {
    /// The rule's name.
    #[serde(borrow)]
    pub rule: Text<'r>,
    /// How bad it is to break it.
    pub severity: Severity,
    /// How often. A difference counts once in each function.
    pub count: u64,
}

/// Something that was not checked.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Undecided<'r> {
    /// Position in the file's `sections`.
    #[serde(default)]
    pub section: Option<usize>,
    /// What, and why.
    #[serde(borrow, default)]
    pub reason: Text<'r>,
}
