//! Tables of figures.

use std::io::{self, Write};

use sframe_record::text::column_width;
use sframe_record::{Line, Table};

/// Writes a table; nothing if it has no columns.
pub(super) fn table(out: &mut dyn Write, Table { columns, lines }: &Table) -> io::Result<()> {
    if columns.is_empty() {
        return Ok(());
    }
    let label = |line: &Line| format!("{}{}", if line.is_part { "  " } else { "" }, line.label);
    let first = column_width(lines.iter().map(label));
    let widths: Vec<usize> = (columns.iter().enumerate())
        .map(|(place, name)| {
            let cells = lines.iter().filter_map(|line| line.cells.get(place));
            column_width(cells.chain([name]))
        })
        .collect();
    let mut row = |label: &str, cells: &[String]| {
        write!(out, "  {label:first$}")?;
        for (cell, width) in cells.iter().zip(&widths) {
            write!(out, "  {cell:>width$}")?;
        }
        writeln!(out)
    };
    row("", columns)?;
    lines.iter().try_for_each(|line| row(&label(line), &line.cells))
}
