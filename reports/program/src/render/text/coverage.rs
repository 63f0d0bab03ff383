//! The coverage of a file, or of many: bytes and functions by who describes them, and the causes
//! of what CFI alone describes.

use std::io::{self, Write};

use anstyle::Style;
use sframe_oracle::compare::{FunctionCounts, Sums};
use sframe_oracle::coverage::Cause;

use crate::report::{Coverage, CoverageTotals, Example, Extent, Files};
use sframe_record::numbers::{counted, grouped, percent};
use sframe_record::text::{printable, printable_path};

const BOLD: Style = Style::new().bold();

/// Writes the table of one file.
pub(super) fn file(out: &mut dyn Write, name: &str, coverage: &Coverage) -> io::Result<()> {
    let code = counted(coverage.bytes.total(), "byte");
    let section = if coverage.with_section { "" } else { ", no SFrame section" };
    writeln!(out, "{BOLD}{name}{BOLD:#}: {code} of code{section}")?;
    if let Some(path) = &coverage.debug_file {
        writeln!(out, "  CFI also from {}", printable_path(path))?;
    }
    table(out, &coverage.bytes, &coverage.functions)?;
    for loss in &coverage.losses {
        let extent = Extent { functions: loss.functions, bytes: loss.bytes };
        let examples: Vec<String> = loss.examples.iter().map(example).collect();
        cause(out, loss.cause, extent, coverage.with_section, &examples.join(", "))?;
    }
    for limit in &coverage.limits {
        let extent = Extent { functions: limit.functions, bytes: limit.bytes };
        limited(out, limit.field, extent)?;
    }
    writeln!(out)
}

/// Writes the tables of all files.
pub(super) fn totals(out: &mut dyn Write, totals: &CoverageTotals) -> io::Result<()> {
    let parts = [
        (&totals.compared, "with an SFrame section", true),
        (&totals.without_section, "without", false),
    ];
    for (files, which, with_section) in parts {
        if files.files > 0 {
            let number = counted(files.files, "file");
            let code = counted(files.bytes.total(), "byte");
            writeln!(out, "{BOLD}coverage{BOLD:#} of {number} {which}: {code} of code")?;
            sums(out, files, with_section)?;
        }
    }
    Ok(())
}

/// One line: how the files that were compared agree.
pub(super) fn in_short(files: &Files) -> String {
    let bytes = &files.bytes;
    let mut parts = vec![format!("{} bytes the same", grouped(bytes.equal))];
    let others = [
        (bytes.limited, "as far as the version can say"),
        (bytes.different, "different"),
        (bytes.only_cfi, "described by CFI alone"),
        (bytes.only_sframe, "by SFrame alone"),
        (bytes.undecided, "undecided"),
    ];
    let some = others.into_iter().filter(|(number, _)| *number > 0);
    parts.extend(some.map(|(number, what)| format!("{} {what}", grouped(number))));
    format!("compared with CFI in {}: {}", counted(files.files, "file"), parts.join(", "))
}

fn sums(out: &mut dyn Write, files: &Files, with_section: bool) -> io::Result<()> {
    table(out, &files.bytes, &files.functions)?;
    for (lost, extent) in &files.losses {
        cause(out, *lost, *extent, with_section, "")?;
    }
    for (field, extent) in &files.limits {
        limited(out, field, *extent)?;
    }
    Ok(())
}

/// Bytes by verdict, and functions where a verdict is about whole functions.
fn table(out: &mut dyn Write, bytes: &Sums, functions: &FunctionCounts) -> io::Result<()> {
    let (total, partly) = (bytes.total(), functions.partly);
    let lines = [
        (bytes.equal, "both say the same", Some(functions.both)),
        (bytes.limited, "the same as far as the version can say", None),
        (bytes.different, "they differ", None),
        (bytes.only_cfi, "CFI alone describes it", Some(functions.only_cfi)),
        (bytes.only_sframe, "SFrame alone describes it", Some(functions.only_sframe)),
        (bytes.neither, "neither does", None),
        (bytes.undecided, "undecided", None),
    ];
    for (number, what, functions) in lines {
        if number == 0 && functions.is_none_or(|functions| functions == 0) {
            continue;
        }
        let functions = functions.filter(|functions| *functions > 0);
        let functions =
            functions.map_or(String::new(), |number| format!(", {}", counted(number, "function")));
        let (bytes, share) = (grouped(number), percent(number, total));
        writeln!(out, "  {bytes:>13}  {share:>11}  {what}{functions}")?;
    }
    if partly > 0 {
        let functions = counted(partly, "function");
        writeln!(out, "  {:>13}  {:>11}  SFrame describes a part of {functions}", "", "")?;
    }
    Ok(())
}

fn cause(
    out: &mut dyn Write,
    cause: Cause,
    extent: Extent,
    with_section: bool,
    examples: &str,
) -> io::Result<()> {
    let what = match (cause, with_section) {
        (Cause::Unexplained, true) => "lost, unexplained".to_owned(),
        (Cause::Unexplained, false) => "SFrame could describe it".to_owned(),
        (cause, true) => format!("lost: {}", cause.name()),
        (cause, false) => format!("in the way: {}", cause.name()),
    };
    let functions = counted(extent.functions, "function");
    let examples = if examples.is_empty() { String::new() } else { format!(": {examples}") };
    writeln!(out, "  {:>13}    {what}, {functions}{examples}", grouped(extent.bytes))
}

fn limited(out: &mut dyn Write, field: &str, extent: Extent) -> io::Result<()> {
    let functions = counted(extent.functions, "function");
    writeln!(out, "  {:>13}    not in this version: {field}, {functions}", grouped(extent.bytes))
}

/// `foo at 0x1000`.
fn example(example: &Example) -> String {
    let section = example.code_section.as_ref().map_or(String::new(), |name| format!("{name}+"));
    let place = format!("{section}{:#x}", example.start.address);
    match &example.symbol {
        Some(symbol) if symbol.offset == 0 => format!("{} at {place}", printable(&symbol.name)),
        Some(symbol) => format!("{}+{:#x} at {place}", printable(&symbol.name), symbol.offset),
        None => place,
    }
}
