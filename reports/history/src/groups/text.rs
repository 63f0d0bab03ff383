//! Root causes for people.

use std::io::{self, Write};

use super::{Example, RootCause, RootCauses};
use sframe_record::numbers::{counted, grouped};
use sframe_record::text::printable;

/// Writes a paragraph for each of the first `details` causes, and how many more there are.
///
/// # Errors
/// Those of writing.
pub fn write(out: &mut dyn Write, causes: &RootCauses, details: usize) -> io::Result<()> {
    for cause in causes.causes.iter().take(details) {
        one(out, cause)?;
    }
    let more = causes.causes.len().saturating_sub(details) as u64;
    if more > 0 {
        writeln!(out, "and {} (--all shows each)\n", counted(more, "more cause"))?;
    }
    let all = counted(causes.causes.len() as u64, "cause");
    let (findings, files) = (counted(causes.findings, "finding"), counted(causes.files, "file"));
    writeln!(out, "{all} of {findings} in {files}")?;
    out.flush()
}

fn one(out: &mut dyn Write, cause: &RootCause) -> io::Result<()> {
    let rule = printable(&cause.rule);
    let what = match (cause.unlisted, cause.shape.as_str()) {
        (true, _) => ": counted, not listed (--all lists each)".to_owned(),
        (false, "") => String::new(),
        (false, shape) => format!(": {}", printable(shape)),
    };
    writeln!(out, "{} {}[{rule}]{what}", grouped(cause.findings), cause.severity.name())?;
    let mut extent = Vec::new();
    if cause.functions > 0 {
        extent.push(counted(cause.functions, "function"));
    }
    extent.push(counted(cause.files, "file"));
    if cause.packages > 0 {
        extent.push(counted(cause.packages, "package"));
    }
    writeln!(out, "  in {}", extent.join(", "))?;
    if !cause.producers.is_empty() {
        writeln!(out, "  made by {}", printable(&cause.producers.join(", ")))?;
    }
    if !cause.instructions.is_empty() {
        writeln!(out, "  code: {}", printable(&cause.instructions.join("; ")))?;
    }
    for example in &cause.examples {
        writeln!(out, "  {}", place(example))?;
    }
    writeln!(out)
}

/// `libfoo.so: f at 0x401000: CFA is rsp+8, CFI says rsp+16`.
fn place(example: &Example) -> String {
    let mut text = printable(example.file.to_string());
    if let Some(symbol) = &example.symbol {
        text.push_str(&format!(": {}", printable(symbol)));
    }
    if let Some(address) = &example.address {
        text.push_str(&format!(" at {}", printable(address)));
    }
    if !example.message.is_empty() {
        text.push_str(&format!(": {}", printable(&example.message)));
    }
    text
}
