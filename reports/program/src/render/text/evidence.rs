//! Two tables of rows over each other, with the machine code beside the lines that differ.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use crate::disassembly::Instruction;
use crate::report::{Cells, Line, Side, Tables};

const DIM: Style = Style::new().dimmed();
const FIRST: Style = AnsiColor::Red.on_default();
const SECOND: Style = AnsiColor::Green.on_default();

/// What the two tables are called.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Titles<'t> {
    pub(crate) first: &'t str,
    pub(crate) second: &'t str,
}

/// Writes the view, `indent` characters from the left; the code stands beside the lines from PC
/// `start` on.
pub(crate) fn write(
    out: &mut dyn Write,
    tables: &Tables,
    (start, code): (u64, &[Instruction]),
    titles: Titles<'_>,
    indent: usize,
) -> io::Result<()> {
    let widths = Widths::of(tables);
    let title = widths.line("PC", "CFA", "RA", "FP");
    let (first, second) = (titles.first, titles.second);
    let title = format!("{title}  (- {first}, + {second})");
    writeln!(out, "{:indent$}{DIM}  {}{DIM:#}", "", title.trim_end())?;
    let first_line = tables.lines.iter().position(|line| line.cells.start >= start).unwrap_or(0);
    let beside = |place: usize| code.get(place.checked_sub(first_line)?);
    for (place, line) in tables.lines.iter().enumerate() {
        write_line(out, line, &widths, beside(place), indent)?;
    }
    for instruction in code.iter().skip(tables.lines.len() - first_line) {
        let empty = widths.line("", "", "", "");
        writeln!(out, "{:indent$}{DIM}  {empty} | {}{DIM:#}", "", text(instruction))?;
    }
    if tables.cut {
        writeln!(out, "{:indent$}{DIM}  ...{DIM:#}", "")?;
    }
    Ok(())
}

fn write_line(
    out: &mut dyn Write,
    line: &Line,
    widths: &Widths,
    beside: Option<&Instruction>,
    indent: usize,
) -> io::Result<()> {
    let (mark, style) = match line.side {
        Side::Both => (' ', DIM),
        Side::First => ('-', FIRST),
        Side::Second => ('+', SECOND),
    };
    let cells = &line.cells;
    let row = widths.line(&pc(cells), &cells.cfa, &ra(cells), &cells.fp);
    match beside {
        Some(instruction) => {
            let code = text(instruction);
            writeln!(out, "{:indent$}{style}{mark} {row}{style:#} {DIM}| {code}{DIM:#}", "")
        }
        None => writeln!(out, "{:indent$}{style}{mark} {}{style:#}", "", row.trim_end()),
    }
}

fn text(instruction: &Instruction) -> String {
    format!("{:#x}  {}", instruction.address, instruction.text)
}

fn pc(cells: &Cells) -> String {
    format!("{:#x}", cells.start)
}

fn ra(cells: &Cells) -> String {
    let signed = if cells.ra_signed { " signed" } else { "" };
    format!("{}{signed}", cells.ra)
}

/// The widest cell of each column.
struct Widths {
    pc: usize,
    cfa: usize,
    ra: usize,
    fp: usize,
}

impl Widths {
    fn of(tables: &Tables) -> Widths {
        let widest = |cell: &dyn Fn(&Cells) -> usize| {
            tables.lines.iter().map(|line| cell(&line.cells)).max().unwrap_or(0).max(2)
        };
        Widths {
            pc: widest(&|cells| pc(cells).len()),
            cfa: widest(&|cells| cells.cfa.len()).max(3),
            ra: widest(&|cells| ra(cells).len()),
            fp: widest(&|cells| cells.fp.len()),
        }
    }

    fn line(&self, pc: &str, cfa: &str, ra: &str, fp: &str) -> String {
        let Widths { pc: a, cfa: b, ra: c, fp: d } = self;
        format!("{pc:a$}  {cfa:b$}  {ra:c$}  {fp:d$}")
    }
}
