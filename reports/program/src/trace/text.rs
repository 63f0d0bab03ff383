//! The report for people.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::{TraceEnd, TraceReport, TracedFile, TracedPc, TracedWitness};
use sframe_record::numbers::{counted, grouped};
use sframe_record::text::printable;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const WRONG: Style = AnsiColor::Red.on_default().bold();

/// Writes the report: each file, then the sums.
///
/// # Errors
/// Returns an error if writing fails.
pub fn write(out: &mut dyn Write, report: &TraceReport) -> io::Result<()> {
    for file in &report.files {
        write_file(out, file)?;
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
        "{BOLD}{command} {ended}{BOLD:#}: {} in {}.{} s ({} per second), {} PCs, {processes}, {threads}",
        counted(report.steps, "step"),
        grouped(milliseconds / 1000),
        milliseconds % 1000 / 100,
        grouped(rate),
        grouped(pcs),
    )
}

fn write_file(out: &mut dyn Write, file: &TracedFile) -> io::Result<()> {
    let path = printable(&file.path);
    writeln!(out, "{BOLD}{path}{BOLD:#}: {} PCs", grouped(file.pcs))?;
    if file.witnesses.is_empty() {
        writeln!(out, "  neither SFrame nor CFI")?;
    }
    for witness in &file.witnesses {
        write_witness(out, witness)?;
    }
    writeln!(out)
}

fn write_witness(out: &mut dyn Write, witness: &TracedWitness) -> io::Result<()> {
    let counts = [
        (witness.right, "right", Style::new()),
        (witness.wrong, "wrong", WRONG),
        (witness.no_row, "without a row", Style::new()),
        (witness.undecided, "undecided", Style::new()),
    ];
    let counts = counts.into_iter().filter(|(count, ..)| *count > 0);
    let counts: Vec<String> = counts
        .map(|(count, what, style)| format!("{style}{} {what}{style:#}", grouped(count)))
        .collect();
    writeln!(out, "  {:<6}  {}", witness.witness, counts.join(", "))?;
    for function in &witness.functions {
        let fields = function.fields.join(", ");
        let pcs = counted(function.pcs, "PC");
        writeln!(
            out,
            "    {WRONG}wrong{WRONG:#} {fields} in {}, {pcs}",
            printable(function.function.as_str())
        )?;
        writeln!(out, "      {}", place(&function.example))?;
        if let Some(text) = &function.example.explanation {
            writeln!(out, "      {text}")?;
        }
    }
    for reason in &witness.reasons {
        let pcs = counted(reason.pcs, "PC");
        writeln!(out, "    undecided: {}: {pcs}", reason.reason)?;
        writeln!(out, "      {DIM}such as {}{DIM:#}", place(&reason.example))?;
    }
    Ok(())
}

/// The address, the symbol, and the instruction.
fn place(pc: &TracedPc) -> String {
    let mut text = pc.pc.to_string();
    if let Some(symbol) = &pc.symbol {
        let symbol = printable(symbol.as_str());
        text.push_str(&match pc.symbol_offset {
            None | Some(0) => format!(" {symbol}"),
            Some(offset) => format!(" {symbol}+{offset:#x}"),
        });
    }
    if let Some(instruction) = &pc.instruction {
        text.push_str(&format!(": {}", instruction.text));
    }
    text
}
