//! The coverage of one or more files: bytes and functions by the tables that describe them, and why SFrame does not
//! describe some.

use std::io::{self, Write};

use sframe_record::numbers::{counted, grouped, percent};
use sframe_record::{
    Coverage, CoverageTotal, CoveredFunctions, FunctionPlace, Limit, Loss, Summary, SymbolNames,
    Verdicts, WithoutEntry,
};

const BOLD: anstyle::Style = anstyle::Style::new().bold();

/// The number of functions without an entry that are listed unless each is wanted.
const LISTED: usize = 20;

/// How coverage is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style<'n> {
    /// The files have a section.
    pub(super) with_section: bool,
    /// What people call the tables that SFrame was compared with.
    pub(super) noun: &'n str,
    /// List every function without an entry that the record has, also with `--all`.
    pub(super) each: bool,
    /// `--all` was not given, and would list more of them.
    pub(super) all_lists_more: bool,
    /// Which names functions have.
    pub(super) names: SymbolNames,
}

/// Writes the table of one file.
pub(super) fn file(
    out: &mut dyn Write,
    name: &str,
    coverage: &Coverage<'_>,
    style: Style<'_>,
) -> io::Result<()> {
    let code = counted(coverage.bytes.total(), "byte");
    let section = if style.with_section { "" } else { ", no SFrame section" };
    writeln!(out, "{BOLD}{name}{BOLD:#}: {code} of code{section}")?;
    if let Some(path) = &coverage.debug_file {
        writeln!(out, "  CFI also from {path}")?;
    }
    lines(out, coverage, style)
}

/// Writes the tables for all files together.
pub(super) fn totals(
    out: &mut dyn Write,
    summary: &Summary<'_>,
    style: Style<'_>,
) -> io::Result<()> {
    let parts = [
        (&summary.compared, "with an SFrame section", true),
        (&summary.without_section, "without", false),
    ];
    for (files, which, with_section) in parts {
        let Some(CoverageTotal { files, coverage }) = files else { continue };
        let number = counted(*files, "file");
        let code = counted(coverage.bytes.total(), "byte");
        writeln!(out, "{BOLD}coverage{BOLD:#} of {number} {which}: {code} of code")?;
        lines(out, coverage, Style { with_section, ..style })?;
    }
    Ok(())
}

/// One line about how far the files that were compared agree. `noun` is what people call their tables.
pub(super) fn in_short(compared: &CoverageTotal<'_>, noun: &str) -> String {
    let alone = format!("described by {noun} alone");
    let bytes = &compared.coverage.bytes;
    let mut parts = vec![format!("{} the same", counted(bytes.equal, "byte"))];
    let others = [
        (bytes.limited, "as far as the version can say"),
        (bytes.different, "different"),
        (bytes.only_cfi, alone.as_str()),
        (bytes.only_sframe, "by SFrame alone"),
        (bytes.undecided, "undecided"),
    ];
    let some = others.into_iter().filter(|(number, _)| *number > 0);
    parts.extend(some.map(|(number, what)| format!("{} {what}", grouped(number))));
    format!("compared with {noun} in {}: {}", counted(compared.files, "file"), parts.join(", "))
}

fn lines(out: &mut dyn Write, coverage: &Coverage<'_>, style: Style<'_>) -> io::Result<()> {
    table(out, &coverage.bytes, &coverage.functions, style.noun)?;
    if let Some(without) = coverage.without_entry.as_ref().filter(|of| of.functions > 0) {
        without_entry(out, without, style)?;
    }
    coverage.losses.iter().try_for_each(|loss| lost(out, loss, style))?;
    coverage.limits.iter().try_for_each(|limit| limited(out, limit))
}

/// The bytes of each verdict, and the functions if a verdict concerns whole functions.
fn table(
    out: &mut dyn Write,
    bytes: &Verdicts,
    functions: &CoveredFunctions,
    noun: &str,
) -> io::Result<()> {
    let alone = format!("{noun} alone describes it");
    let (total, partly) = (bytes.total(), functions.partly);
    let lines = [
        (bytes.equal, "both say the same", Some(functions.both)),
        (bytes.limited, "the same as far as the version can say", None),
        (bytes.different, "they differ", None),
        (bytes.only_cfi, alone.as_str(), Some(functions.only_cfi)),
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

/// The functions that nothing describes, the largest first.
fn without_entry(
    out: &mut dyn Write,
    without: &WithoutEntry<'_>,
    style: Style<'_>,
) -> io::Result<()> {
    let (bytes, functions) = (grouped(without.bytes), counted(without.functions, "function"));
    writeln!(out, "  {bytes:>13}    no entry in SFrame or {}, {functions}:", style.noun)?;
    let most = if style.each { usize::MAX } else { LISTED };
    let listed = without.largest.iter().take(most);
    let (mut number, mut listed_bytes) = (0_u64, 0_u64);
    for function in listed {
        let source = function.source.as_ref();
        let source = source.map_or(String::new(), |of| format!(", {}:{}", of.file, of.line));
        let (size, place) = (grouped(function.size), example(function, style.names));
        writeln!(out, "  {size:>13}      {place}{source}")?;
        number = number.saturating_add(1);
        listed_bytes = listed_bytes.saturating_add(function.size);
    }
    let more = without.functions.saturating_sub(number);
    if more > 0 {
        let bytes = counted(without.bytes.saturating_sub(listed_bytes), "byte");
        let hint = if style.all_lists_more { " (--all lists them)" } else { "" };
        writeln!(out, "  {:>13}      and {} more, {bytes}{hint}", "", grouped(more))?;
    }
    Ok(())
}

fn lost(out: &mut dyn Write, loss: &Loss<'_>, style: Style<'_>) -> io::Result<()> {
    let what = match (loss.is_unexplained(), style.with_section) {
        (true, true) => "lost, unexplained".to_owned(),
        (true, false) => "SFrame could describe it".to_owned(),
        (false, true) => format!("lost: {}", loss.cause),
        (false, false) => format!("in the way: {}", loss.cause),
    };
    let functions = counted(loss.functions, "function");
    let examples: Vec<String> = loss.examples.iter().map(|of| example(of, style.names)).collect();
    let colon = if examples.is_empty() { "" } else { ": " };
    let examples = examples.join(", ");
    writeln!(out, "  {:>13}    {what}, {functions}{colon}{examples}", grouped(loss.bytes))
}

fn limited(out: &mut dyn Write, limit: &Limit<'_>) -> io::Result<()> {
    let (bytes, field) = (grouped(limit.bytes), &limit.field);
    let functions = counted(limit.functions, "function");
    writeln!(out, "  {bytes:>13}    not in this version: {field}, {functions}")
}

/// `foo at 0x1000`.
pub(super) fn example(example: &FunctionPlace<'_>, names: SymbolNames) -> String {
    let section = example.code_section.as_ref().map_or(String::new(), |name| format!("{name}+"));
    let file = example.file.as_ref().map_or(String::new(), |file| {
        format!(" in {}", sframe_record::text::printable(file.as_str()))
    });
    let place = format!("{section}{}{file}", example.start);
    let symbol = example.symbol.as_ref().map(|symbol| names.printed(symbol));
    match (symbol, example.symbol_offset) {
        (Some(symbol), Some(offset)) if offset > 0 => format!("{symbol}+{offset:#x} at {place}"),
        (Some(symbol), _) => format!("{symbol} at {place}"),
        (None, _) => place,
    }
}
