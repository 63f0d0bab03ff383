//! A finding as text: the message, and the rows of both tables.

use std::fmt::Write as _;

use sframe_record::{Difference, Finding, Side, TableLine};

/// The text of a finding.
#[must_use]
pub fn text(finding: &Finding<'_>) -> String {
    let mut text = format!("{}: {}\n", finding.rule, finding.message);
    if let Some(difference) = &finding.difference {
        table(difference, &mut text);
    }
    for part in &finding.context {
        let mark = if part.blamed { '>' } else { ' ' };
        let _ = writeln!(
            text,
            "  {mark} {:#x} | {} | {} {}",
            part.offset, part.bytes, part.name, part.value
        );
    }
    text
}

fn table(difference: &Difference<'_>, text: &mut String) {
    let lines = difference.table.iter();
    let mut rows: Vec<[String; 5]> = vec![["", "PC", "CFA", "RA", "FP"].map(str::to_owned)];
    rows.extend(lines.map(row));
    let width =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(String::len).max();
    let widths: Vec<usize> = (0..5).map(|column| width(column).unwrap_or(0)).collect();
    for row in &rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        let _ = writeln!(text, "  {}", line.trim_end());
    }
}

fn row(line: &TableLine<'_>) -> [String; 5] {
    let side = match line.side {
        Side::Both => "both",
        Side::Sframe => "SFrame",
        Side::Cfi => "CFI",
        Side::First => "first",
        Side::Second => "second",
    };
    let frame = &line.frame;
    let signed = if frame.ra_signed { ", signed" } else { "" };
    [
        side.to_owned(),
        format!("{:#x}", line.start.0),
        frame.cfa.to_string(),
        format!("{}{signed}", frame.ra),
        frame.fp.to_string(),
    ]
}
