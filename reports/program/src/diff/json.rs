//! The comparison of two files as JSON: one type for each object, from which the schema is made.
//!
//! Addresses are strings, as in the [report's formats](crate::render::json).

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;

use schemars::JsonSchema;
use serde::Serialize;
use sframe_oracle::diff::{Change, Matching};

use super::{Place, Report};
use sframe_record::TableLine;
use sframe_record::json::{FORMAT, TOOL, Tool, exact_name, name};
use sframe_record::text::printable;

/// `diff --format json`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "sframe-check diff")]
pub struct Document {
    /// Version of this format: 1.
    pub format: u32,
    /// The program that wrote it.
    pub tool: Tool,
    /// The first file.
    pub first: Side,
    /// The second file.
    pub second: Side,
    /// How code was matched: `address` or `symbol`.
    pub matching: &'static str,
    /// The functions that differ; the first ones, or all with `--all`.
    pub functions: Vec<Function>,
    /// How many more differ.
    pub more_functions: u64,
    /// Bytes of code by what became of them.
    pub bytes: Bytes,
    /// Functions by which side has them.
    pub function_counts: Functions,
}

/// One of the two files.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Side {
    /// The path as it was given.
    pub path: String,
    /// The path's bytes in hexadecimal, where they are not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// Its sections.
    pub sections: Vec<Section>,
}

/// A section.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Section {
    /// 1, 2 or 3.
    pub version: u8,
    /// `AMD64`, `AArch64`, `AArch64-BE` or `s390x`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub abi: Option<&'static str>,
    /// Number of functions.
    pub functions: u32,
}

/// A function that is not the same on both sides.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Function {
    /// Its symbol, or the section of stubs; empty where there is none.
    pub name: String,
    /// The name's bytes in hexadecimal, where they are not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name_hex: Option<String>,
    /// Where it is in the first file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<FunctionPlace>,
    /// Where it is in the second file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second: Option<FunctionPlace>,
    /// What became of which PCs.
    pub ranges: Vec<Range>,
    /// Both tables of rows around the first range that differs; `first` or `second` where only that
    /// side has a line.
    pub table: Vec<TableLine<'static>>,
}

/// The place of a function.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FunctionPlace {
    /// Its place in the section's table, from 0.
    pub index: u32,
    /// Where it starts, `0x...`: an address, or an offset in `code_section`.
    pub start: String,
    /// The section it is in, in relocatable objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code_section: Option<String>,
    /// Bytes of code.
    pub size: u32,
}

/// A range of PCs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Range {
    /// The first PC, `0x...`: an address, or matched by symbol, bytes from the function's start.
    pub start: String,
    /// The first PC behind, `0x...`.
    pub end: String,
    /// `different`, `only-first`, `only-second` or `undecided`.
    pub change: &'static str,
    /// What differs.
    pub fields: Vec<&'static str>,
}

/// Bytes of code.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Bytes {
    /// Both sides say the same.
    pub equal: u64,
    /// They say the same as far as the older version can.
    pub limited: u64,
    /// They differ.
    pub different: u64,
    /// Only the first side describes the code.
    pub only_first: u64,
    /// Only the second side does.
    pub only_second: u64,
    /// A side cannot be read.
    pub undecided: u64,
}

/// Functions.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Functions {
    /// Of both sides.
    pub matched: u64,
    /// Of the first side alone.
    pub only_first: u64,
    /// Of the second side alone.
    pub only_second: u64,
    /// Of either side, not compared: they have no symbol, or their start is not known.
    pub not_compared: u64,
}

/// Writes the document.
///
/// # Errors
/// Those of writing.
pub fn write(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    sframe_record::json::write(&mut *out, &document(report))?;
    writeln!(out)?;
    out.flush()
}

/// The schema of the document.
#[must_use]
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
        matching: match report.matching {
            Matching::Address => "address",
            Matching::Symbol => "symbol",
        },
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

fn side(side: &super::Side) -> Side {
    let path = side.path.as_os_str().as_bytes();
    let section = |section: &super::SectionInShort| Section {
        version: section.version.number(),
        abi: section.abi.map(|abi| abi.name()),
        functions: section.functions,
    };
    Side {
        path: name(path),
        path_hex: exact_name(path),
        sections: side.sections.iter().map(section).collect(),
    }
}

fn function(function: &super::FunctionChange) -> Function {
    let lines = function.tables.iter().flat_map(|tables| &tables.lines);
    Function {
        name: printable(&function.name),
        name_hex: exact_name(&function.name),
        first: function.first.as_ref().map(place),
        second: function.second.as_ref().map(place),
        ranges: function.ranges.iter().map(|(start, end, c)| range(*start, *end, *c)).collect(),
        table: lines.cloned().collect(),
    }
}

fn place(place: &Place) -> FunctionPlace {
    FunctionPlace {
        index: place.function.index,
        start: format!("{:#x}", place.function.start.address),
        code_section: place.code_section.clone(),
        size: place.function.size,
    }
}

fn range(start: u64, end: u64, change: Change) -> Range {
    let (change, fields) = match change {
        Change::Different(fields) => ("different", fields.names().collect()),
        Change::Limited(fields) => ("limited", fields.names().collect()),
        Change::OnlyFirst => ("only-first", Vec::new()),
        Change::OnlySecond => ("only-second", Vec::new()),
        Change::Undecided => ("undecided", Vec::new()),
    };
    Range { start: format!("{start:#x}"), end: format!("{end:#x}"), change, fields }
}
