//! The report for people.

use std::collections::BTreeSet;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use sframe_policy::Known;
use sframe_process::Witness;
use sframe_process::trace::Fields;

use super::{TraceEnd, TraceReport, TracedFile, TracedFunction, TracedPc, TracedWitness};
use crate::function_name::{at_offset, source_name};
use crate::report::text::known;
use sframe_record::numbers::{counted, grouped};
use sframe_record::text::printable;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const WRONG: Style = AnsiColor::Red.on_default().bold();

/// Writes the report: each file, then the sums. `level` says how wrong rows of known defects count.
///
/// # Errors
/// Returns an error if writing fails.
pub fn write(out: &mut dyn Write, report: &TraceReport, level: Known) -> io::Result<()> {
    for file in &report.files {
        write_file(out, file, level)?;
    }
    if report.files.is_empty() {
        writeln!(out, "no file whose code was executed matches --only\n")?;
    }
    let milliseconds = report.milliseconds.max(1);
    let rate = report.steps.saturating_mul(1000) / milliseconds;
    if report.steps_elsewhere > 0 {
        let steps = counted(report.steps_elsewhere, "step");
        writeln!(
            out,
            "{steps} in code that is in no file, or that the program can change: undecided"
        )?;
    }
    if report.untraced > 0 {
        let number = grouped(report.untraced);
        writeln!(
            out,
            "children made with CLONE_UNTRACED, which nothing can trace: {number}, undecided"
        )?;
    }
    let pcs = report.files.iter().map(|file| file.pcs).sum();
    let processes = match report.processes {
        1 => "1 process".to_owned(),
        number => format!("{} processes", grouped(number)),
    };
    let threads = counted(report.threads, "thread");
    let command = report.command.first().map(|word| printable(word.as_str())).unwrap_or_default();
    let ended = match report.end {
        TraceEnd::Exited => format!("exited with status {}", report.status.unwrap_or_default()),
        TraceEnd::Killed => format!("was ended by signal {}", report.signal.unwrap_or_default()),
        TraceEnd::MaxSteps => "was ended at --max-steps".to_owned(),
        TraceEnd::TimeLimit => "was ended at --time-limit".to_owned(),
        TraceEnd::Interrupted => "was interrupted".to_owned(),
    };
    writeln!(
        out,
        "{BOLD}{command} {ended}{BOLD:#}: {} in {}.{} s ({} per second), {}, {processes}, {threads}",
        counted(report.steps, "step"),
        grouped(milliseconds / 1000),
        milliseconds % 1000 / 100,
        grouped(rate),
        counted(pcs, "PC"),
    )?;
    if level != Known::Allow && report.witnesses().any(|witness| witness.known > 0) {
        writeln!(
            out,
            "  `sframe-check explain NAME` says what a known defect means and what to do"
        )?;
    }
    Ok(())
}

fn write_file(out: &mut dyn Write, file: &TracedFile, level: Known) -> io::Result<()> {
    let path = printable(&file.path);
    writeln!(out, "{BOLD}{path}{BOLD:#}: {}", counted(file.pcs, "PC"))?;
    if file.witnesses.is_empty() {
        writeln!(out, "  neither SFrame nor CFI")?;
    }
    for witness in &file.witnesses {
        write_witness(out, witness, level)?;
    }
    writeln!(out)
}

fn write_witness(out: &mut dyn Write, witness: &TracedWitness, level: Known) -> io::Result<()> {
    let of_known = if level == Known::Deny { 0 } else { witness.known };
    let known_words = if level == Known::Allow { "suppressed" } else { "wrong (known defect)" };
    let no_row = if witness.witness == Witness::Code { "not determined" } else { "without a row" };
    let counts = [
        (witness.right, "right", Style::new()),
        (witness.wrong.saturating_sub(of_known), "wrong", WRONG),
        (of_known, known_words, Style::new()),
        (witness.no_row, no_row, Style::new()),
        (witness.undecided, "undecided", Style::new()),
    ];
    let counts = counts.into_iter().filter(|(count, ..)| *count > 0);
    let counts: Vec<String> = counts
        .map(|(count, what, style)| format!("{style}{} {what}{style:#}", grouped(count)))
        .collect();
    writeln!(out, "  {:<6}  {}", witness.witness.name(), counts.join(", "))?;
    let is_counted = |of: &&TracedFunction| of.known.is_none() || level == Known::Deny;
    for function in witness.functions.iter().filter(is_counted) {
        write_function(out, function)?;
    }
    if level != Known::Deny {
        write_known(out, witness, level)?;
    }
    for reason in &witness.reasons {
        let pcs = counted(reason.pcs, "PC");
        writeln!(out, "    undecided: {}: {pcs}", reason.reason)?;
        writeln!(out, "      {DIM}such as {}{DIM:#}", place(&reason.example))?;
    }
    Ok(())
}

/// Writes the wrong rows of a function.
fn write_function(out: &mut dyn Write, function: &TracedFunction) -> io::Result<()> {
    let (what, pcs) = (subject(function.fields), counted(function.pcs, "PC"));
    let example = &function.example;
    let name = source_name(function.function.as_str().as_bytes());
    let of = match &example.symbol {
        Some(symbol) if *symbol == function.function => name,
        _ => format!("the function at {name}"),
    };
    writeln!(out, "    {what} {WRONG}wrong{WRONG:#} at {pcs} of {of}")?;
    let first = if function.pcs > 1 { "first at " } else { "" };
    writeln!(out, "      {first}{}", place(example))?;
    if let Some(text) = &example.explanation {
        writeln!(out, "      {text}")?;
    }
    match function.known {
        Some(id) => writeln!(out, "      known: {}", known::in_full(id)),
        None => Ok(()),
    }
}

/// The wrong fields as the subject of a sentence: `CFA and RA are`.
fn subject(fields: Fields) -> String {
    if fields == (Fields { outermost: true, ..Fields::default() }) {
        return "RA=undefined is".to_owned();
    }
    let names: Vec<&str> = fields.names().collect();
    match names.as_slice() {
        [one] => format!("{one} is"),
        [first @ .., last] => format!("{} and {last} are", first.join(", ")),
        [] => "it is".to_owned(),
    }
}

/// Names the known defects that rows are cases of.
fn write_known(out: &mut dyn Write, witness: &TracedWitness, level: Known) -> io::Result<()> {
    let ids: BTreeSet<&str> = witness.functions.iter().filter_map(|of| of.known).collect();
    for id in ids {
        if level == Known::Allow {
            writeln!(out, "    suppressed: known: {id}")?;
            continue;
        }
        let title = sframe_defects::find(id).map_or("", |defect| defect.title);
        let name = known::in_short(id);
        writeln!(out, "    known, not caused by this file: {name}: {title}")?;
    }
    Ok(())
}

/// The address, the symbol, and the instruction.
fn place(pc: &TracedPc) -> String {
    let mut text = pc.pc.to_string();
    if let Some(symbol) = &pc.symbol {
        text.push_str(&format!(" {}", at_offset(symbol.as_str(), pc.symbol_offset)));
    }
    if let Some(instruction) = &pc.instruction {
        text.push_str(&format!(": {}", instruction.text));
    }
    text
}
