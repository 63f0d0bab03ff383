//! What SFrame would cost, and what it would lose: the answer first, then the figures, within one screen.

use std::io::{self, Write};

use anstyle::Style;
use sframe_record::numbers::counted;
use sframe_record::text::printable;
use sframe_record::{ElfType, Forecast, LINKED, Predicted, Summary, SymbolNames};

use super::TextOptions;
use super::coverage::example;
use crate::report::table;
use crate::report::wrap::wrap;

/// The number of columns of a screen.
const WIDTH: usize = 100;
/// The number of lines for figures and examples: those of a screen without the answer and the counts of inputs.
const LINES: usize = 15;
/// The number of lines for why some file could not be read.
const REASON: usize = 3;
/// The number of packages that are listed.
const PACKAGES: usize = 10;
/// The number of causes of loss that are listed.
const CAUSES: usize = 3;
/// The number of files, each with an answer of its own, up to which the figures of all together have no causes.
const FEW: u64 = 3;

const BOLD: Style = Style::new().bold();

/// Writes the answer for a file. Its figures follow, in [`totals`].
pub(super) fn file(
    out: &mut dyn Write,
    name: &str,
    forecast: &Forecast<'_>,
    width: Option<usize>,
) -> io::Result<()> {
    answer(out, name, forecast.answer(), width)?;
    unknown(forecast, width).iter().try_for_each(|line| writeln!(out, "{line}"))
}

/// Writes the forecasts for all programs and libraries together, and for all objects.
pub(super) fn totals(
    out: &mut dyn Write,
    summary: &Summary<'_>,
    options: &TextOptions,
) -> io::Result<()> {
    let width = options.width;
    let totals = summary.forecasts();
    let files: u64 = totals.iter().map(|(total, _)| total.files).sum();
    let packages = summary.several_packages();
    for (place, (total, noun)) in totals.iter().enumerate() {
        let of_file = if *noun == LINKED { ElfType::Shared } else { ElfType::Relocatable };
        // The forecast for a single file has what a file has and sums do not.
        let elf_type = (files == 1).then_some(of_file);
        let forecast = &Forecast { elf_type, ..total.forecast.clone() };
        let mut lines = Vec::new();
        // If nothing else was asked about a single file, the answer is the last line.
        if files > 1 || options.findings {
            answer(out, &counted(total.files, noun), total.answer(), width)?;
            lines = unknown(forecast, width);
        }
        // The answers for two or three files, or for packages, are on the screen as well.
        let is_listed = packages.is_some() || (files > 1 && files <= FEW && totals.len() > 1);
        let has_room = files == 1 || (files > FEW && totals.len() == 1);
        if place == 0 && !is_listed {
            lines.extend(figures(forecast, if has_room { CAUSES } else { 0 }));
        }
        lines.extend(forecast.caveat().filter(|_| *noun == LINKED).map(|text| format!("  {text}")));
        if place == 0 && !is_listed && has_room {
            let left = summary.unreadable.saturating_add(summary.crashed);
            let room = LINES.saturating_sub(if left > 0 { REASON } else { 0 });
            let room = room.saturating_sub(lines.len());
            lines.extend(examples(forecast).into_iter().take(room));
        }
        lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    }
    if let Some(packages) = packages {
        writeln!(out, "{BOLD}forecast{BOLD:#} for {}", packages.subject(PACKAGES))?;
        let table = packages.table(PACKAGES);
        table::text(&table).lines().try_for_each(|line| writeln!(out, "{}", fitting(line)))?;
    }
    Ok(())
}

/// The number of columns that lines may have.
pub(super) fn screen(width: Option<usize>) -> usize {
    width.unwrap_or(WIDTH).min(WIDTH)
}

/// Writes `forecast for FILE: SFrame would add ...`.
fn answer(
    out: &mut dyn Write,
    subject: &str,
    answer: Option<String>,
    width: Option<usize>,
) -> io::Result<()> {
    let answer = answer.as_deref().unwrap_or("what SFrame would cost is not known");
    let width = screen(width).saturating_sub("forecast".len());
    let text = wrap(&format!("for {subject}: {answer}"), 2, Some(width));
    writeln!(out, "{BOLD}forecast{BOLD:#} {text}")
}

/// The lines of the table. With one encoding, which the answer names, the columns have no titles.
fn figures(forecast: &Forecast<'_>, causes: usize) -> Vec<String> {
    let mut table = forecast.table_in_short(causes);
    if let [only] = table.columns.as_mut_slice() {
        only.clear();
    }
    table::text(&table).lines().map(fitting).collect()
}

/// Why the sections of some files are not known.
fn unknown(forecast: &Forecast<'_>, width: Option<usize>) -> Vec<String> {
    let line = |section: &Predicted<'_>| {
        let reason = printable(&**section.reason.as_ref()?);
        let why = if forecast.elf_type.is_some() { ":" } else { " for" };
        let text = format!("{}: not known{why} {reason}", section.encoding);
        Some(format!("  {}", wrap(&text, 4, Some(screen(width)))))
    };
    forecast.sections.iter().filter_map(line).collect()
}

/// The first function of each cause.
fn examples(forecast: &Forecast<'_>) -> Vec<String> {
    let (mut shown, mut lines): (Vec<&str>, _) = (Vec::new(), Vec::new());
    for loss in forecast.sections.iter().flat_map(|section| &section.losses) {
        let Some(first) = loss.examples.first() else { continue };
        if shown.contains(&&*loss.cause) {
            continue;
        }
        shown.push(&loss.cause);
        lines.push(fitting(&format!(
            "  {}: {}",
            printable(&*loss.cause),
            example(first, SymbolNames::Mangled)
        )));
    }
    lines
}

/// A line that fits: the end of a longer one is cut.
fn fitting(line: &str) -> String {
    match line.char_indices().nth(WIDTH) {
        None => line.to_owned(),
        Some(_) => line.chars().take(WIDTH - 1).chain(['…']).collect(),
    }
}
