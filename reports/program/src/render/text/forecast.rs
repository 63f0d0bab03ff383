//! What SFrame would cost, and what it would lose.

use std::io::{self, Write};

use anstyle::Style;
use sframe_record::forecast::{Line, Table};
use sframe_record::numbers::counted;
use sframe_record::text::{column_width, printable};
use sframe_record::{Forecast, ForecastTotal};

use super::coverage::example;

const BOLD: Style = Style::new().bold();

/// Writes the forecast for a file.
pub(super) fn file(out: &mut dyn Write, name: &str, forecast: &Forecast<'_>) -> io::Result<()> {
    writeln!(out, "{BOLD}forecast{BOLD:#} for {name}")?;
    table(out, forecast)?;
    for section in &forecast.sections {
        if let Some(reason) = &section.reason {
            writeln!(out, "  {}: not known: {}", section.encoding, printable(&**reason))?;
        }
    }
    examples(out, forecast)
}

/// Writes the forecast for all files together.
pub(super) fn totals(out: &mut dyn Write, total: &ForecastTotal<'_>) -> io::Result<()> {
    writeln!(out, "{BOLD}forecast{BOLD:#} for {}", counted(total.files, "file"))?;
    table(out, &total.forecast)
}

fn table(out: &mut dyn Write, forecast: &Forecast<'_>) -> io::Result<()> {
    let Table { encodings, lines } = Table::of(forecast);
    if encodings.is_empty() {
        return Ok(());
    }
    let label = |line: &Line| format!("{}{}", if line.is_part { "  " } else { "" }, line.label);
    let first = column_width(lines.iter().map(label));
    let widths: Vec<usize> = (encodings.iter().enumerate())
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
    row("", &encodings)?;
    lines.iter().try_for_each(|line| row(&label(line), &line.cells))
}

/// The first function of each cause.
fn examples(out: &mut dyn Write, forecast: &Forecast<'_>) -> io::Result<()> {
    let mut shown: Vec<&str> = Vec::new();
    for loss in forecast.sections.iter().flat_map(|section| &section.losses) {
        let Some(first) = loss.examples.first() else { continue };
        if shown.contains(&&*loss.cause) {
            continue;
        }
        shown.push(&loss.cause);
        writeln!(out, "  {}: {}", printable(&*loss.cause), example(first))?;
    }
    Ok(())
}
