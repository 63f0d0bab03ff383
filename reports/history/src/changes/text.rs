//! Writes the changes as text for a terminal.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::{Change, Changes, FileChange, FindingChange, Options, phrases};
use sframe_record::Severity;
use sframe_record::numbers::counted;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const RED: Style = AnsiColor::Red.on_default();
const GREEN: Style = AnsiColor::Green.on_default();

/// The maximum number of functions in a line.
const NAMES: usize = 5;

/// The maximum number of lines of each kind in the summary, so that it fits on a screen.
const LINES: usize = 5;

/// Writes a summary that fits on a screen, then the changes, worst first.
///
/// # Errors
/// Returns an error if writing fails.
pub fn write(out: &mut dyn Write, changes: &Changes, options: &Options) -> io::Result<()> {
    summary(out, changes)?;
    let mut left = options.details;
    let mut files = changes.listed();
    while left > 0
        && let Some(change) = files.next()
    {
        file(out, change, &mut left)?;
    }
    let listed = files.count() as u64;
    if listed > 0 {
        let more = counted(listed.saturating_add(changes.more_files), "more file");
        writeln!(out, "\nand {more} with changes (--all shows each)")?;
    } else if changes.more_files > 0 {
        writeln!(out, "\nand {} with changes", counted(changes.more_files, "more file"))?;
    }
    out.flush()
}

fn summary(out: &mut dyn Write, changes: &Changes) -> io::Result<()> {
    writeln!(out, "old: {}", phrases::scan(&changes.old))?;
    writeln!(out, "new: {}", phrases::scan(&changes.new))?;
    writeln!(out, "{BOLD}{}{BOLD:#}", phrases::verdict(changes))?;
    if changes.is_empty() {
        return Ok(());
    }
    for line in phrases::summary(changes) {
        writeln!(out, "  {line}")?;
    }
    let rules = changes.rules.iter().map(|rule| {
        let (severity, rule) = (rule.severity.name(), phrases::rule(rule));
        format!("{severity:7} {rule}")
    });
    some(out, rules, "more rules")?;
    some(
        out,
        changes.missing.iter().map(phrases::missing),
        "more packages with files that are gone",
    )?;
    let packages = changes.packages.iter().map(phrases::package);
    some(out, packages.map(|package| format!("package {package}")), "more packages")?;
    some(out, changes.sections.iter().map(phrases::section), "more changes of sections")?;
    some(out, changes.producers.iter().map(phrases::producer), "more changes of producers")?;
    some(out, changes.undecided.iter().map(|why| format!("undecided: {why}")), "more")
}

/// Writes the first few lines, and the number of the rest.
fn some(
    out: &mut dyn Write,
    lines: impl ExactSizeIterator<Item = String>,
    what: &str,
) -> io::Result<()> {
    let more = lines.len().saturating_sub(LINES);
    for line in lines.take(LINES) {
        writeln!(out, "    {line}")?;
    }
    if more > 0 {
        writeln!(out, "    {DIM}and {more} {what}{DIM:#}")?;
    }
    Ok(())
}

fn file(out: &mut dyn Write, change: &FileChange, left: &mut usize) -> io::Result<()> {
    writeln!(out, "\n{BOLD}{}{BOLD:#}", phrases::name(change))?;
    if let Some(matched) = phrases::matched(change) {
        writeln!(out, "  {DIM}{matched}{DIM:#}")?;
    }
    if let Some(became) = phrases::became(change) {
        let style = if change.worse { RED } else { Style::new() };
        writeln!(out, "  {style}{became}{style:#}")?;
        *left = left.saturating_sub(1);
    }
    if let Some(coverage) = &change.coverage {
        writeln!(out, "  coverage: {}", phrases::coverage(coverage))?;
        for line in phrases::causes(coverage, NAMES) {
            writeln!(out, "    {line}")?;
        }
        *left = left.saturating_sub(1);
    }
    let mut findings = change.findings.iter();
    for change in findings.by_ref().take(*left) {
        finding(out, change)?;
        *left = left.saturating_sub(1);
    }
    if findings.len() > 0 {
        let more = counted(findings.len() as u64, "more finding");
        writeln!(out, "  and {more} (--all shows each)")?;
    }
    let mut undecided = phrases::undecided(change).peekable();
    if undecided.peek().is_some() {
        *left = left.saturating_sub(1);
    }
    for line in undecided {
        writeln!(out, "  undecided: {line}")?;
    }
    Ok(())
}

fn finding(out: &mut dyn Write, finding: &FindingChange) -> io::Result<()> {
    let style = match (finding.change, finding.severity) {
        (Change::New, Severity::Error) => RED,
        (Change::Fixed, _) => GREEN,
        _ => Style::new(),
    };
    let (change, severity) = (phrases::change(finding.change), finding.severity.name());
    let (rule, message) = (phrases::rule_name(finding), phrases::message(finding));
    writeln!(out, "  {style}{change} {severity}[{rule}]{style:#}: {message}")?;
    for line in phrases::before(finding).into_iter().chain(phrases::at(finding)) {
        writeln!(out, "    {line}")?;
    }
    for line in phrases::table(finding) {
        writeln!(out, "      {line}")?;
    }
    Ok(())
}
