//! The changes for people at a terminal.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::{Change, Changes, FileChange, FindingChange, Options, told};
use crate::record::Severity;
use crate::words::{counted, printable};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const RED: Style = AnsiColor::Red.on_default();
const GREEN: Style = AnsiColor::Green.on_default();

/// How many lines of one kind the summary has: it fits a screen.
const LINES: usize = 5;

/// Writes a summary that fits a screen, then the changes, worst first.
///
/// # Errors
/// Those of writing.
pub fn write(out: &mut dyn Write, changes: &Changes, options: &Options) -> io::Result<()> {
    summary(out, changes)?;
    let mut left = options.details;
    let mut files = changes.files.iter();
    for change in files.by_ref() {
        if left == 0 {
            let more = counted(files.len() as u64 + 1, "more file");
            writeln!(out, "\nand {more} with changes (--all shows each)")?;
            break;
        }
        file(out, change, &mut left)?;
    }
    out.flush()
}

fn summary(out: &mut dyn Write, changes: &Changes) -> io::Result<()> {
    writeln!(out, "old: {}", told::scan(&changes.old))?;
    writeln!(out, "new: {}", told::scan(&changes.new))?;
    writeln!(out, "{BOLD}{}{BOLD:#}", told::verdict(changes))?;
    if changes.is_empty() {
        return Ok(());
    }
    for line in told::summary(changes) {
        writeln!(out, "  {line}")?;
    }
    let rules = changes.rules.iter().map(|rule| {
        let (severity, rule) = (rule.severity.name(), told::rule(rule));
        format!("{severity:7} {rule}")
    });
    some(out, rules, "more rules")?;
    let packages = changes.packages.iter().map(|package| {
        let coverage = told::from_to(&package.old, &package.new);
        let verdict = told::verdict_of(package.verdict);
        format!("package {}: {verdict}: {coverage}", printable(&package.package))
    });
    some(out, packages, "more packages")?;
    some(out, changes.producers.iter().map(told::producer), "more changes of producers")?;
    some(out, changes.undecided.iter().map(|why| format!("undecided: {why}")), "more")
}

/// The first few lines, and how many more there are.
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
    let name = change.name().map_or(String::new(), |name| printable(&name.to_string()));
    writeln!(out, "\n{BOLD}{name}{BOLD:#}")?;
    if let Some(matched) = told::matched(change) {
        writeln!(out, "  {DIM}{matched}{DIM:#}")?;
    }
    if let Some(became) = told::became(change) {
        let style = if change.worse { RED } else { Style::new() };
        writeln!(out, "  {style}{became}{style:#}")?;
        *left = left.saturating_sub(1);
    }
    if let Some(coverage) = &change.coverage {
        writeln!(out, "  coverage: {}", told::coverage(coverage))?;
        for line in told::causes(coverage) {
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
    for count in &change.counts {
        writeln!(out, "  undecided: {}", told::count(count))?;
    }
    for why in &change.undecided {
        writeln!(out, "  undecided: {}", printable(why))?;
    }
    if !change.counts.is_empty() || !change.undecided.is_empty() {
        *left = left.saturating_sub(1);
    }
    Ok(())
}

fn finding(out: &mut dyn Write, finding: &FindingChange) -> io::Result<()> {
    let style = match (finding.change, finding.severity) {
        (Change::New, Severity::Error) => RED,
        (Change::Fixed, _) => GREEN,
        _ => Style::new(),
    };
    let (change, severity) = (told::change(finding.change), finding.severity.name());
    let (rule, message) = (printable(&finding.rule), told::message(finding));
    writeln!(out, "  {style}{change} {severity}[{rule}]{style:#}: {message}")?;
    if let Some(before) = told::before(finding) {
        writeln!(out, "    {before}")?;
    }
    let place = finding.place().map(told::place).filter(|place| !place.is_empty());
    if let Some(place) = place {
        writeln!(out, "    at {place}")?;
    }
    for line in told::table(finding) {
        writeln!(out, "      {line}")?;
    }
    Ok(())
}
