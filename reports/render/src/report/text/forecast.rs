//! What SFrame would cost, and what it would lose.

use std::io::{self, Write};

use anstyle::Style;
use sframe_record::numbers::counted;
use sframe_record::text::printable;
use sframe_record::{Forecast, LINKED, Summary};

use super::coverage::example;
use crate::report::table;

/// The number of packages that are listed.
const PACKAGES: usize = 20;

const BOLD: Style = Style::new().bold();

/// Writes the forecast for a file.
pub(super) fn file(out: &mut dyn Write, name: &str, forecast: &Forecast<'_>) -> io::Result<()> {
    writeln!(out, "{BOLD}forecast{BOLD:#} for {name}")?;
    figures(out, forecast, !forecast.is_object())
}

/// Writes the forecasts for all programs and libraries together, and for all objects.
pub(super) fn totals(out: &mut dyn Write, summary: &Summary<'_>) -> io::Result<()> {
    let totals = summary.forecasts();
    // The forecast for a single file was written with it.
    if totals.iter().map(|(total, _)| total.files).sum::<u64>() < 2 {
        return Ok(());
    }
    for (total, noun) in totals {
        writeln!(out, "{BOLD}forecast{BOLD:#} for {}", counted(total.files, noun))?;
        figures(out, &total.forecast, noun == LINKED)?;
    }
    if let Some(packages) = summary.several_packages() {
        writeln!(out, "{BOLD}forecast{BOLD:#} for {}", packages.subject(PACKAGES))?;
        write!(out, "{}", table::text(&packages.table(PACKAGES)))?;
    }
    Ok(())
}

fn figures(out: &mut dyn Write, forecast: &Forecast<'_>, is_linked: bool) -> io::Result<()> {
    write!(out, "{}", table::text(&forecast.table()))?;
    if let Some(caveat) = forecast.caveat().filter(|_| is_linked) {
        writeln!(out, "  {caveat}")?;
    }
    for section in &forecast.sections {
        let Some(reason) = &section.reason else { continue };
        let reason = printable(&**reason);
        match forecast.elf_type {
            Some(_) => writeln!(out, "  {}: not known: {reason}", section.encoding)?,
            None => writeln!(out, "  {}: not known for {reason}", section.encoding)?,
        }
    }
    examples(out, forecast)
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
