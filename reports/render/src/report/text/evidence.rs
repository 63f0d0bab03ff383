//! Writes two merged tables of rows, with the machine code next to the lines that differ.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use sframe_record::text::column_width;
use sframe_record::{Instruction, Side, TableLine};

const DIM: Style = Style::new().dimmed();
const FIRST: Style = AnsiColor::Red.on_default();
const SECOND: Style = AnsiColor::Green.on_default();

/// The names of the two tables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Titles<'t> {
    pub(crate) first: &'t str,
    pub(crate) second: &'t str,
}

impl Titles<'_> {
    /// The meaning of the marks of `lines`.
    fn of_marks(&self, lines: &[TableLine<'_>]) -> String {
        Side::legend(lines.iter().map(|line| line.side), self.first, self.second)
    }
}

const fn style(side: Side) -> Style {
    match side {
        Side::Both => DIM,
        Side::Sframe | Side::First => FIRST,
        Side::Cfi | Side::Second => SECOND,
    }
}

/// Writes the lines of both tables, indented by `indent` characters, with the code next to the lines from the row of PC
/// `start` on. `cut` means that the tables have more lines.
pub(crate) fn write(
    out: &mut dyn Write,
    (lines, cut): (&[TableLine<'_>], bool),
    (start, code): (u64, &[Instruction<'_>]),
    titles: Titles<'_>,
    indent: usize,
) -> io::Result<()> {
    let widths = Widths::of(lines);
    let title = widths.line("PC", "CFA", "RA", "FP");
    let title = format!("{title}  ({})", titles.of_marks(lines));
    writeln!(out, "{:indent$}{DIM}  {}{DIM:#}", "", title.trim_end())?;
    let first_line = line_of(start, lines);
    let beside = |place: usize| code.get(place.checked_sub(first_line)?);
    for (place, line) in lines.iter().enumerate() {
        write_line(out, line, &widths, beside(place), indent)?;
    }
    for instruction in code.iter().skip(lines.len() - first_line) {
        let empty = widths.line("", "", "", "");
        writeln!(out, "{:indent$}{DIM}  {empty} | {}{DIM:#}", "", text(instruction))?;
    }
    if cut {
        writeln!(out, "{:indent$}{DIM}  ...{DIM:#}", "")?;
    }
    Ok(())
}

/// The number of the line whose row contains a PC; of the first such line if both tables have a row that starts there.
fn line_of(pc: u64, lines: &[TableLine<'_>]) -> usize {
    let start = lines.iter().map(|line| line.start).filter(|start| start.0 <= pc).max();
    lines.iter().position(|line| Some(line.start) == start).unwrap_or(0)
}

fn write_line(
    out: &mut dyn Write,
    line: &TableLine<'_>,
    widths: &Widths,
    beside: Option<&Instruction<'_>>,
    indent: usize,
) -> io::Result<()> {
    let (mark, style) = (line.side.mark(), style(line.side));
    let start = line.start.to_string();
    let frame = &line.frame;
    let (cfa, ra, fp) = (frame.cfa.to_string(), frame.signed_ra(), frame.fp.to_string());
    let row = widths.line(&start, &cfa, &ra, &fp);
    match beside {
        Some(instruction) => {
            let code = text(instruction);
            writeln!(out, "{:indent$}{style}{mark} {row}{style:#} {DIM}| {code}{DIM:#}", "")
        }
        None => writeln!(out, "{:indent$}{style}{mark} {}{style:#}", "", row.trim_end()),
    }
}

fn text(instruction: &Instruction<'_>) -> String {
    format!("{}  {}", instruction.address, instruction.text)
}

/// The width of each column.
struct Widths {
    pc: usize,
    cfa: usize,
    ra: usize,
    fp: usize,
}

impl Widths {
    fn of(lines: &[TableLine<'_>]) -> Widths {
        let column = |title: &str, cell: &dyn Fn(&TableLine<'_>) -> String| {
            column_width(lines.iter().map(cell).chain([title.to_owned()]))
        };
        Widths {
            pc: column("PC", &|line| line.start.to_string()),
            cfa: column("CFA", &|line| line.frame.cfa.to_string()),
            ra: column("RA", &|line| line.frame.signed_ra()),
            fp: column("FP", &|line| line.frame.fp.to_string()),
        }
    }

    fn line(&self, pc: &str, cfa: &str, ra: &str, fp: &str) -> String {
        let Widths { pc: a, cfa: b, ra: c, fp: d } = self;
        format!("{pc:a$}  {cfa:b$}  {ra:c$}  {fp:d$}")
    }
}
