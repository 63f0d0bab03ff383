//! The comparison of two files as JSON: one type for each object. The schema is generated from these types.
//!
//! Addresses are strings, as in the [report's formats](crate::report::json).

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;

use serde::Serialize;
use sframe_oracle::compare::Fields;
use sframe_oracle::diff::{Change, Matching};
use sframe_validator::Abi;

use super::{ChangedRange, Report, RowsFrom, SourceInShort, SourceKind};
use sframe_record::TableLine;
use sframe_record::json::{FORMAT, TOOL, Tool, exact_name, name};
use sframe_record::text::printable;

/// `diff --format json`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "sframe-check diff"))]
pub struct Document {
    /// Version of this format: 1.
    pub format: u32,
    /// The program that wrote it.
    pub tool: Tool,
    /// The first file.
    pub first: Side,
    /// The second file.
    pub second: Side,
    /// Where the rows come from.
    pub rows: RowsFrom,
    /// How code was matched.
    pub matching: Matching,
    /// The functions that differ: the first ones or, with `--all`, all of them.
    pub functions: Vec<Function>,
    /// The number of further functions that differ.
    pub more_functions: u64,
    /// Bytes of code by result.
    pub bytes: Bytes,
    /// Functions by the files that have them.
    pub function_counts: Functions,
}

/// One of the two files.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Side {
    /// The path as given on the command line.
    pub path: String,
    /// The path's bytes in hexadecimal, if they are not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// Its SFrame sections, if they are compared.
    pub sections: Vec<Section>,
    /// Its sections of call frame information, if they are compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cfi: Vec<CfiSection>,
    /// Its machine code, if that is compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<MachineCode>,
}

/// A section.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Section {
    /// 1, 2 or 3.
    pub version: u8,
    /// The machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub abi: Option<Abi>,
    /// The number of functions.
    pub functions: u64,
}

/// A section of call frame information.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CfiSection {
    /// `.eh_frame` or `.debug_frame`.
    pub name: &'static str,
    /// The number of functions.
    pub functions: u64,
}

/// Machine code.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MachineCode {
    /// The number of functions.
    pub functions: u64,
}

/// A function that differs.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Function {
    /// Its symbol, or the section of stubs; empty if there is none.
    pub name: String,
    /// The name's bytes in hexadecimal, if they are not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name_hex: Option<String>,
    /// Its place in the first file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<FunctionPlace>,
    /// Its place in the second file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second: Option<FunctionPlace>,
    /// The changes by range of PCs.
    pub ranges: Vec<Range>,
    /// Both tables of rows around the first range that differs; `first` or `second` if a line is in only one of them.
    pub table: Vec<TableLine<'static>>,
}

/// The place of a function.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FunctionPlace {
    /// Its index, from 0, in the section's table; in call frame information and machine code, in the order of addresses.
    pub index: u32,
    /// Its start, `0x...`: an address, or an offset in `code_section`.
    pub start: String,
    /// In relocatable objects, the section that contains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code_section: Option<String>,
    /// Bytes of code.
    pub size: u64,
}

/// A range of PCs.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Range {
    /// The first PC, `0x...`: an address or, if matched by symbol, an offset from the function's start.
    pub start: String,
    /// The first PC after the range, `0x...`.
    pub end: String,
    /// What differs.
    pub change: RangeChange,
    /// The fields that differ.
    pub fields: Fields,
}

/// What differs in a range of PCs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RangeChange {
    /// The files describe it differently.
    Different,
    /// The files describe it in the same way, as far as the older version can express it.
    Limited,
    /// Only the first file describes it.
    OnlyFirst,
    /// Only the second file describes it.
    OnlySecond,
    /// One of the files cannot be read.
    Undecided,
}

/// Bytes of code.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bytes {
    /// Code that both files describe in the same way.
    pub equal: u64,
    /// Code that both files describe in the same way, as far as the older version can express it.
    pub limited: u64,
    /// Code that the files describe differently.
    pub different: u64,
    /// Code that only the first file describes.
    pub only_first: u64,
    /// Code that only the second file describes.
    pub only_second: u64,
    /// Code for which one of the files cannot be read.
    pub undecided: u64,
}

/// Functions.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Functions {
    /// Functions in both files.
    pub matched: u64,
    /// Functions only in the first file.
    pub only_first: u64,
    /// Functions only in the second file.
    pub only_second: u64,
    /// Functions in either file that were not compared, because they have no symbol or their start cannot be read.
    pub not_compared: u64,
}

/// Writes the document.
///
/// # Errors
/// Returns an error if writing fails.
pub fn write(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    sframe_record::json::write(&mut *out, &document(report))?;
    writeln!(out)?;
    out.flush()
}

/// The schema of the document.
#[must_use]
#[cfg(feature = "schema")]
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Document)
}

fn document(report: &Report) -> Document {
    let totals = &report.totals;
    Document {
        format: FORMAT,
        tool: TOOL,
        first: side(&report.first),
        second: side(&report.second),
        rows: report.from,
        matching: report.matching,
        functions: report.functions.iter().map(function).collect(),
        more_functions: report.more,
        bytes: Bytes {
            equal: totals.equal,
            limited: totals.limited,
            different: totals.different,
            only_first: totals.only_first,
            only_second: totals.only_second,
            undecided: totals.undecided,
        },
        function_counts: Functions {
            matched: totals.matched,
            only_first: totals.functions_only_first,
            only_second: totals.functions_only_second,
            not_compared: totals.unnamed_first + totals.unnamed_second + totals.unplaced,
        },
    }
}

fn side(side: &super::ComparedFile) -> Side {
    let path = side.path.as_os_str().as_bytes();
    let mut made = Side {
        path: name(path),
        path_hex: exact_name(path),
        sections: Vec::new(),
        cfi: Vec::new(),
        code: None,
    };
    for SourceInShort { kind, abi, functions } in side.sources.iter().copied() {
        match kind {
            SourceKind::Sframe(version) => {
                let version = version.number();
                made.sections.push(Section { version, abi, functions });
            }
            SourceKind::Cfi(name) => made.cfi.push(CfiSection { name, functions }),
            SourceKind::Code => made.code = Some(MachineCode { functions }),
        }
    }
    made
}

fn function(function: &super::FunctionChange) -> Function {
    let lines = function.tables.iter().flat_map(|tables| &tables.lines);
    Function {
        name: printable(&function.name),
        name_hex: exact_name(&function.name),
        first: function.first.as_ref().map(place),
        second: function.second.as_ref().map(place),
        ranges: function.ranges.iter().map(range).collect(),
        table: lines.cloned().collect(),
    }
}

fn place(place: &super::FunctionPlace) -> FunctionPlace {
    FunctionPlace {
        index: place.function.index,
        start: format!("{:#x}", place.function.start.address),
        code_section: place.code_section.clone(),
        size: place.function.size,
    }
}

fn range(range: &ChangedRange) -> Range {
    let (change, fields) = match range.change {
        Change::Different(fields) => (RangeChange::Different, fields),
        Change::Limited(fields) => (RangeChange::Limited, fields),
        Change::OnlyFirst => (RangeChange::OnlyFirst, Fields::default()),
        Change::OnlySecond => (RangeChange::OnlySecond, Fields::default()),
        Change::Undecided => (RangeChange::Undecided, Fields::default()),
    };
    Range { start: format!("{:#x}", range.start), end: format!("{:#x}", range.end), change, fields }
}
