//! What SFrame would cost, and what it would lose.

use std::io::{self, Write};

use anstyle::Style;
use sframe_record::numbers::counted;
use sframe_record::text::printable;
use sframe_record::{Forecast, ForecastTotal};

use super::coverage::example;
use super::table::table;

const BOLD: Style = Style::new().bold();

/// Writes the forecast for a file.
pub(super) fn file(out: &mut dyn Write, name: &str, forecast: &Forecast<'_>) -> io::Result<()> {
    writeln!(out, "{BOLD}forecast{BOLD:#} for {name}")?;
    table(out, &forecast.table())?;
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
    table(out, &total.forecast.table())
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
