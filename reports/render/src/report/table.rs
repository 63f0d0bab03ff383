//! Tables of figures in text.

use sframe_record::text::column_width;
use sframe_record::{Line, Table};

/// The lines of a table; nothing if it has no columns.
pub(super) fn text(Table { columns, lines }: &Table) -> String {
    if columns.is_empty() {
        return String::new();
    }
    let label = |line: &Line| format!("{}{}", if line.is_part { "  " } else { "" }, line.label);
    let first = column_width(lines.iter().map(label));
    let widths: Vec<usize> = (columns.iter().enumerate())
        .map(|(place, name)| {
            let cells = lines.iter().filter_map(|line| line.cells.get(place));
            column_width(cells.chain([name]))
        })
        .collect();
    let row = |label: String, cells: &[String]| {
        let cells = cells.iter().zip(&widths).map(|(cell, width)| format!("  {cell:>width$}"));
        format!("  {label:first$}{}\n", cells.collect::<String>())
    };
    let has_titles = columns.iter().any(|name| !name.is_empty());
    let title = has_titles.then(|| row(String::new(), columns));
    title.into_iter().chain(lines.iter().map(|line| row(label(line), &line.cells))).collect()
}
