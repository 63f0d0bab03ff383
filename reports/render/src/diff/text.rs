//! The comparison of two files as text.

use std::io::{self, Write};

use anstyle::Style;
use sframe_oracle::diff::{Change, Matching};

use super::{
    ChangedRange, ComparedFile, Comparison, FunctionChange, FunctionPlace, Report, RowsFrom,
    SourceKind,
};
use crate::function_name::source_name;
use crate::report::text::evidence::{self, Titles};
use sframe_record::numbers::{counted, grouped};
use sframe_record::text::printable_path;

const BOLD: Style = Style::new().bold();

/// Writes a comparison for people.
#[derive(Debug)]
pub struct Text<W> {
    out: W,
}

impl<W: Write> Text<W> {
    /// A renderer that writes to `out`.
    pub const fn new(out: W) -> Text<W> {
        Text { out }
    }

    /// Writes the comparison of two files, or of all files that two packages have, and the files of one package alone.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub fn comparison(&mut self, comparison: &Comparison) -> io::Result<()> {
        for (place, report) in comparison.reports.iter().enumerate() {
            if place > 0 {
                writeln!(self.out)?;
            }
            self.write(report)?;
        }
        for path in comparison.only_first.iter().chain(&comparison.only_second) {
            let path = printable_path(path);
            writeln!(
                self.out,
                "{path}: the other package has no such file with {}",
                comparison.kind()
            )?;
        }
        self.out.flush()
    }

    /// Writes the whole comparison.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub fn write(&mut self, report: &Report) -> io::Result<()> {
        self.side('A', &report.first)?;
        self.side('B', &report.second)?;
        writeln!(self.out)?;
        for function in &report.functions {
            self.function(function, report.matching)?;
        }
        if report.more > 0 {
            let more = counted(report.more, "more function");
            writeln!(self.out, "and {more} that differ (--all shows each)\n")?;
        }
        self.totals(report)?;
        self.out.flush()
    }

    fn side(&mut self, letter: char, side: &ComparedFile) -> io::Result<()> {
        let source = |source: &super::SourceInShort| {
            let machine = source.abi.map_or("unknown ABI", |abi| abi.name());
            let functions = counted(source.functions, "function");
            match source.kind {
                SourceKind::Sframe(version) => {
                    format!("V{} {machine}, {functions}", version.number())
                }
                SourceKind::Cfi(name) => format!("{name} {machine}, {functions}"),
                SourceKind::Code => format!("machine code {machine}, {functions}"),
            }
        };
        let sources: Vec<String> = side.sources.iter().map(source).collect();
        writeln!(self.out, "{letter}: {}: {}", printable_path(&side.path), sources.join("; "))
    }

    fn function(&mut self, function: &FunctionChange, matching: Matching) -> io::Result<()> {
        let name = match function.name.as_slice() {
            [] => "function".to_owned(),
            name => source_name(name),
        };
        let places = match (&function.first, &function.second) {
            (Some(first), Some(second)) => {
                format!("at {} in A and {} in B", place(first), place(second))
            }
            (Some(first), None) => format!("at {}, only in A", place(first)),
            (None, Some(second)) => format!("at {}, only in B", place(second)),
            (None, None) => String::new(),
        };
        writeln!(self.out, "{BOLD}{name}{BOLD:#} {places}")?;
        let plus = if matching == Matching::Symbol { "+" } else { "" };
        for ChangedRange { start, end, change } in &function.ranges {
            let bytes = counted(end - start, "byte");
            let what = what(*change);
            writeln!(self.out, "  {plus}{start:#x}..{plus}{end:#x}: {what} ({bytes})")?;
        }
        if let Some(tables) = &function.tables {
            let titles = Titles { first: "A", second: "B" };
            let start = function.ranges.first().map_or(0, |range| range.start);
            let code = (start, function.code.as_slice());
            evidence::write(&mut self.out, (&tables.lines, tables.cut), code, titles, 4)?;
        }
        writeln!(self.out)
    }

    fn totals(&mut self, report: &Report) -> io::Result<()> {
        let totals = &report.totals;
        let by = match report.matching {
            Matching::Address => "address",
            Matching::Symbol => "symbol",
        };
        writeln!(
            self.out,
            "{BOLD}matched by {by}{BOLD:#}: {} in both, {} only in A, {} only in B",
            counted(totals.matched, "function"),
            grouped(totals.functions_only_first),
            grouped(totals.functions_only_second),
        )?;
        let undecided = match report.from {
            RowsFrom::Code => "undecided: the code proves nothing there",
            RowsFrom::Sframe | RowsFrom::Cfi => "undecided",
        };
        let lines = [
            (totals.equal, "both say the same"),
            (totals.limited, "the same as far as the older version can say"),
            (totals.different, "they differ"),
            (totals.only_first, "only A describes it"),
            (totals.only_second, "only B describes it"),
            (totals.undecided, undecided),
        ];
        for (bytes, what) in lines.into_iter().filter(|(bytes, _)| *bytes > 0) {
            writeln!(self.out, "  {:>13} bytes: {what}", grouped(bytes))?;
        }
        let left = [
            (totals.unnamed_first, "of A without a symbol"),
            (totals.unnamed_second, "of B without a symbol"),
            (totals.unplaced, "whose start cannot be read"),
        ];
        for (functions, which) in left.into_iter().filter(|(functions, _)| *functions > 0) {
            let functions = counted(functions, "function");
            writeln!(self.out, "  not compared: {functions} {which}")?;
        }
        Ok(())
    }
}

fn what(change: Change) -> String {
    match change {
        Change::Different(fields) if fields.names().count() == 1 => format!("{fields} differs"),
        Change::Different(fields) => format!("{fields} differ"),
        Change::Limited(fields) => format!("{fields}: not in the older version"),
        Change::OnlyFirst => "only in A".to_owned(),
        Change::OnlySecond => "only in B".to_owned(),
        Change::Undecided => "undecided, a side cannot be read".to_owned(),
    }
}

/// `.text+0x10 (32 bytes)`.
fn place(place: &FunctionPlace) -> String {
    let section = place.code_section.as_ref().map_or(String::new(), |name| format!("{name}+"));
    let function = &place.function;
    let bytes = counted(function.size, "byte");
    format!("{section}{:#x} ({bytes})", function.start.address)
}
