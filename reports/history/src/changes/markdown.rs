//! The changes as Markdown, fit for a comment on a merge request.
//!
//! Everything that comes from files stands in spans or blocks of code, where it is neither markup
//! nor a mention of somebody, behind a fence that it cannot close.

use std::io::{self, Write};

use super::{Changes, FileChange, FindingChange, Options, told};
use sframe_record::numbers::counted;

/// How many lines of one kind the summary has.
const LINES: usize = 10;

/// Writes a summary and the changes, worst first.
///
/// # Errors
/// Those of writing.
pub fn write(out: &mut dyn Write, changes: &Changes, options: &Options) -> io::Result<()> {
    writeln!(out, "### SFrame: {}\n", told::verdict(changes))?;
    writeln!(out, "- old: {}", code(&told::scan(&changes.old)))?;
    writeln!(out, "- new: {}", code(&told::scan(&changes.new)))?;
    if changes.is_empty() {
        return out.flush();
    }
    for line in told::summary(changes) {
        writeln!(out, "- {line}")?;
    }
    let rules = changes.rules.iter();
    some(out, "Rules", rules.map(|rule| format!("{} {}", rule.severity.name(), told::rule(rule))))?;
    some(out, "Packages", changes.packages.iter().map(told::package))?;
    some(out, "Producers", changes.producers.iter().map(told::producer))?;
    some(out, "Undecided", changes.undecided.iter().cloned())?;
    let mut left = options.details;
    let mut files = changes.files.iter();
    for change in files.by_ref() {
        if left == 0 {
            let more = counted(files.len() as u64 + 1, "more file");
            writeln!(out, "\nand {more} with changes")?;
            break;
        }
        file(out, change, &mut left)?;
    }
    out.flush()
}

/// A heading, the first few lines, and how many more there are; nothing where there are none.
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
    writeln!(out, "\n#### {}\n", code(&told::name(change)))?;
    let lines = (told::matched(change).into_iter())
        .chain(told::became(change))
        .chain(change.coverage.as_ref().map(told::coverage));
    for line in lines {
        writeln!(out, "- {}", code(&line))?;
    }
    for line in change.coverage.iter().flat_map(told::causes) {
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
    for line in told::undecided(change) {
        writeln!(out, "- undecided: {}", code(&line))?;
    }
    *left = left.saturating_sub(shown.max(1));
    Ok(())
}

fn finding(out: &mut dyn Write, finding: &FindingChange) -> io::Result<()> {
    let rule = code(&format!("{}[{}]", finding.severity.name(), told::rule_name(finding)));
    writeln!(
        out,
        "- **{}** {rule}: {}",
        told::change(finding.change),
        code(&told::message(finding))
    )?;
    for line in told::before(finding).into_iter().chain(told::at(finding)) {
        writeln!(out, "  - {}", code(&line))?;
    }
    let table = told::table(finding);
    if !table.is_empty() {
        let fence = fence(table.iter().map(String::as_str), 3);
        writeln!(out, "\n  {fence}text")?;
        for line in table {
            writeln!(out, "  {line}")?;
        }
        writeln!(out, "  {fence}\n")?;
    }
    Ok(())
}

/// A span of code; control characters are gone by now.
fn code(text: &str) -> String {
    let fence = fence(std::iter::once(text), 1);
    // A space is taken off again where both ends have one.
    let space = if text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) { " " } else { "" };
    // An empty span is none.
    if text.is_empty() { String::new() } else { format!("{fence}{space}{text}{space}{fence}") }
}

/// More backticks than stand in a row anywhere in the text, and at least `least`.
fn fence<'t>(text: impl Iterator<Item = &'t str>, least: usize) -> String {
    let runs = text.flat_map(|text| text.split(|character| character != '`'));
    "`".repeat(runs.map(str::len).max().map_or(least, |longest| least.max(longest + 1)))
}

#[cfg(test)]
mod tests {
    use super::code;

    #[test]
    fn a_name_stays_in_its_span() {
        assert_eq!(code("a.so"), "`a.so`");
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("``` @all"), "```` ``` @all ````");
        assert_eq!(code("<b>|</b>"), "`<b>|</b>`");
        assert_eq!(code(" "), "`   `");
        assert_eq!(code(""), "");
    }
}
