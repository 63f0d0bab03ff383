//! Writes the changes as Markdown, for instance for a comment on a merge request.
//!
//! All text from files is in code spans or code blocks, with a fence that the text cannot close, so that it cannot be
//! markup or mention users.

use std::io::{self, Write};

use super::{Changes, FileChange, FindingChange, Options, phrases};
use sframe_record::markdown::{block, code};
use sframe_record::numbers::counted;

/// The maximum number of functions in a line.
const NAMES: usize = 5;

/// The maximum number of lines of each kind in the summary.
const LINES: usize = 10;

/// Writes a summary and the changes, worst first.
///
/// # Errors
/// Returns an error if writing fails.
pub fn write(out: &mut dyn Write, changes: &Changes, options: &Options) -> io::Result<()> {
    writeln!(out, "### SFrame: {}\n", phrases::verdict(changes))?;
    writeln!(out, "- old: {}", code(&phrases::scan(&changes.old)))?;
    writeln!(out, "- new: {}", code(&phrases::scan(&changes.new)))?;
    if changes.is_empty() {
        return out.flush();
    }
    for line in phrases::summary(changes) {
        writeln!(out, "- {line}")?;
    }
    let rules = changes.rules.iter();
    some(
        out,
        "Rules",
        rules.map(|rule| format!("{} {}", rule.severity.name(), phrases::rule(rule))),
    )?;
    some(out, "Gone", changes.missing.iter().map(phrases::missing))?;
    some(out, "Packages", changes.packages.iter().map(phrases::package))?;
    some(out, "Sections", changes.sections.iter().map(phrases::section))?;
    some(out, "Producers", changes.producers.iter().map(phrases::producer))?;
    some(out, "Undecided", changes.undecided.iter().cloned())?;
    let mut left = options.details;
    let mut files = changes.listed();
    while left > 0
        && let Some(change) = files.next()
    {
        file(out, change, &mut left)?;
    }
    let more = (files.count() as u64).saturating_add(changes.more_files);
    if more > 0 {
        writeln!(out, "\nand {} with changes", counted(more, "more file"))?;
    }
    out.flush()
}

/// Writes a heading, the first few lines, and the number of the rest; nothing if there are no lines.
fn some(
    out: &mut dyn Write,
    heading: &str,
    lines: impl ExactSizeIterator<Item = String>,
) -> io::Result<()> {
    let all = lines.len();
    if all == 0 {
        return Ok(());
    }
    writeln!(out, "\n**{heading}**\n")?;
    for line in lines.take(LINES) {
        writeln!(out, "- {}", code(&line))?;
    }
    if all > LINES {
        writeln!(out, "- and {} more", all - LINES)?;
    }
    Ok(())
}

fn file(out: &mut dyn Write, change: &FileChange, left: &mut usize) -> io::Result<()> {
    writeln!(out, "\n#### {}\n", code(&phrases::name(change)))?;
    let lines = (phrases::matched(change).into_iter())
        .chain(phrases::became(change))
        .chain(change.coverage.as_ref().map(phrases::coverage));
    for line in lines {
        writeln!(out, "- {}", code(&line))?;
    }
    for line in change.coverage.iter().flat_map(|coverage| phrases::causes(coverage, NAMES)) {
        writeln!(out, "  - {}", code(&line))?;
    }
    let shown = change.findings.len().min(*left);
    for change in change.findings.iter().take(shown) {
        finding(out, change)?;
    }
    if shown < change.findings.len() {
        let more = counted((change.findings.len() - shown) as u64, "more finding");
        writeln!(out, "- and {more}")?;
    }
    for line in phrases::undecided(change) {
        writeln!(out, "- undecided: {}", code(&line))?;
    }
    *left = left.saturating_sub(shown.max(1));
    Ok(())
}

fn finding(out: &mut dyn Write, finding: &FindingChange) -> io::Result<()> {
    let rule = code(&format!("{}[{}]", finding.severity.name(), phrases::rule_name(finding)));
    writeln!(
        out,
        "- **{}** {rule}: {}",
        phrases::change(finding.change),
        code(&phrases::message(finding))
    )?;
    for line in phrases::before(finding).into_iter().chain(phrases::at(finding)) {
        writeln!(out, "  - {}", code(&line))?;
    }
    let table = phrases::table(finding);
    if !table.is_empty() {
        writeln!(out)?;
        for line in block(&table.join("\n"), "text").lines() {
            writeln!(out, "  {line}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}
