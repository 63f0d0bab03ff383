//! Writes root causes as text.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use sframe_record::{Severity, SymbolNames};

use super::{Example, RootCause, RootCauses};
use sframe_record::numbers::counted;
use sframe_record::text::printable;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const LINT: Style = AnsiColor::Cyan.on_default().bold();
const DIM: Style = Style::new().dimmed();

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The number of causes; the rest are counted.
    pub causes: usize,
    /// Which names functions have.
    pub names: SymbolNames,
}

/// Writes the first causes with an example each, and the number of the rest.
///
/// # Errors
/// Returns an error if writing fails.
pub fn write(out: &mut dyn Write, causes: &RootCauses, options: Options) -> io::Result<()> {
    let shown = options.causes;
    for cause in causes.causes.iter().take(shown) {
        one(out, cause, options.names)?;
    }
    let rest = causes.causes.get(shown..).unwrap_or_default();
    if !rest.is_empty() {
        let findings = rest.iter().map(|cause| cause.findings).fold(0, u64::saturating_add);
        let (more, findings) =
            (counted(rest.len() as u64, "more cause"), counted(findings, "finding"));
        writeln!(out, "and {more} of {findings} (--all shows each)")?;
    }
    Ok(())
}

fn one(out: &mut dyn Write, cause: &RootCause, names: SymbolNames) -> io::Result<()> {
    let (rule, severity) = (printable(&cause.rule), cause.severity.name());
    let style = match cause.severity {
        Severity::Error => ERROR,
        Severity::Warning => WARNING,
        Severity::Lint => LINT,
    };
    let mut extent = vec![counted(cause.findings, "finding")];
    if cause.functions > 0 && cause.functions != cause.findings {
        extent.push(counted(cause.functions, "function"));
    }
    extent.push(counted(cause.files, "file"));
    if cause.packages > 0 {
        extent.push(counted(cause.packages, "package"));
    }
    writeln!(out, "{style}{severity}[{rule}]{style:#}: {}", extent.join(", "))?;
    match (cause.unlisted, cause.shape.as_str()) {
        (true, _) => writeln!(out, "  counted, not listed (--all lists each)")?,
        (false, "") => {}
        (false, shape) => {
            let code = match cause.instructions.as_slice() {
                [] => String::new(),
                code => format!(" at {}", printable(code.join("; "))),
            };
            writeln!(out, "  {}{code}", printable(shape))?;
        }
    }
    if let Some(known) = &cause.known {
        writeln!(out, "  known: {}", printable(known))?;
    }
    if let Some(owner) = cause.owner_in_words().filter(|_| cause.known.is_none()) {
        writeln!(out, "  owner: {owner}")?;
    }
    if !cause.producers.is_empty() {
        writeln!(out, "  made by {}", printable(cause.producers.join(", ")))?;
    }
    match cause.examples.first() {
        Some(example) => writeln!(out, "  {DIM}{}{DIM:#}", place(example, names)),
        None => Ok(()),
    }
}

/// `libfoo.so: f at 0x401000: CFA is rsp+8, CFI says rsp+16`.
fn place(example: &Example, names: SymbolNames) -> String {
    let mut text = printable(example.file.to_string());
    if let Some(symbol) = &example.symbol {
        text.push_str(&format!(": {}", names.printed(symbol)));
    }
    if let Some(address) = &example.address {
        text.push_str(&format!(" at {}", printable(address)));
    }
    if !example.message.is_empty() {
        text.push_str(&format!(": {}", printable(example.text())));
    }
    text
}
