//! What was not checked, and why.

use alloc::string::String;
use core::fmt;

/// Something that was not checked, and why. It must never count as free of defects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undecided {
    /// The position in [`Report::sections`](super::Report::sections); `None` for the file itself.
    pub section: Option<usize>,
    /// Why.
    pub cause: UndecidedCause,
    /// One sentence without a full stop, for people: what was not checked, and why.
    pub reason: String,
}

/// Why something was not checked. Unlike the sentence about it, it stays the same from version to version, so that two scans
/// can be compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(rename_all = "kebab-case")
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum UndecidedCause {
    /// The file announces code that it does not contain.
    CodeNotInFile,
    /// The relocatable object has no section headers, so that nothing in it can be found.
    NoSectionHeaders,
    /// The file has more SFrame sections than are checked.
    FurtherSections,
    /// The dynamic relocations of the file cannot be read.
    DynamicRelocations,
    /// The relocations of the section cannot be read.
    SectionRelocations,
    /// The symbols of the file cannot be read.
    Symbols,
    /// The bytes of the section cannot be read, or are not in the file.
    SectionBytes,
    /// The header of the section cannot be read.
    Header,
    /// The header does not say for certain where and how functions and rows are stored.
    Layout,
    /// The rows of functions cannot be read.
    Rows,
    /// The start of functions is not known.
    FunctionStarts,
    /// CFI cannot be read.
    Cfi,
    /// CFI has an expression without a simpler meaning.
    CfiExpression,
    /// A part of CFI is beyond what is read.
    CfiLimit,
    /// ORC tables, or some of their entries, cannot be read.
    Orc,
    /// The separate debug file was refused.
    DebugFile,
    /// Machine code of this machine is not examined.
    Machine,
    /// What SFrame was to be compared with is absent or cannot be read, or the section itself cannot.
    Comparison,
    /// Findings were kept in a temporary file that cannot be read again.
    LostFindings,
    /// A policy that looks at each finding cannot see those that are only counted.
    UnlistedFindings,
    /// Another version of the program knows the cause.
    #[default]
    #[cfg_attr(feature = "serde", serde(other))]
    Unknown,
}

impl fmt::Display for UndecidedCause {
    /// Writes the name that reports use: `code-not-in-file`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            UndecidedCause::CodeNotInFile => "code-not-in-file",
            UndecidedCause::NoSectionHeaders => "no-section-headers",
            UndecidedCause::FurtherSections => "further-sections",
            UndecidedCause::DynamicRelocations => "dynamic-relocations",
            UndecidedCause::SectionRelocations => "section-relocations",
            UndecidedCause::Symbols => "symbols",
            UndecidedCause::SectionBytes => "section-bytes",
            UndecidedCause::Header => "header",
            UndecidedCause::Layout => "layout",
            UndecidedCause::Rows => "rows",
            UndecidedCause::FunctionStarts => "function-starts",
            UndecidedCause::Cfi => "cfi",
            UndecidedCause::CfiExpression => "cfi-expression",
            UndecidedCause::CfiLimit => "cfi-limit",
            UndecidedCause::Orc => "orc",
            UndecidedCause::DebugFile => "debug-file",
            UndecidedCause::Machine => "machine",
            UndecidedCause::Comparison => "comparison",
            UndecidedCause::LostFindings => "lost-findings",
            UndecidedCause::UnlistedFindings => "unlisted-findings",
            UndecidedCause::Unknown => "unknown",
        })
    }
}
