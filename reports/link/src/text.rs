//! The audit as text.

use std::io;

use sframe_record::numbers::{counted, grouped, percent};
use sframe_record::text::printable;

use crate::audit::Audit;
use crate::input::{Input, InputKind};
use crate::model::{Fate, Outcome};
use crate::options::Output;

/// The number of inputs, of messages, and of inputs without SFrame that are listed.
const LISTED: usize = 40;

impl Audit {
    /// Writes the audit for a terminal.
    ///
    /// # Errors
    /// Returns the writer's error.
    pub fn write_text(&self, out: &mut impl io::Write) -> io::Result<()> {
        writeln!(out, "{} by {}", output(self.options.output), linker(self))?;
        inputs(self, out)?;
        outcome(self, out)?;
        coverage(self, out)?;
        remedies(self, out)?;
        undecided(self, out)
    }
}

const fn output(output: Output) -> &'static str {
    match output {
        Output::Program => "a program linked",
        Output::Static => "a static program linked",
        Output::Shared => "a shared object linked",
        Output::Relocatable => "a relocatable object linked (-r)",
    }
}

fn linker(audit: &Audit) -> String {
    match audit.linker.version.is_empty() {
        true => audit.linker.linker.title().to_owned(),
        false => audit.linker.version.clone(),
    }
}

fn inputs(audit: &Audit, out: &mut impl io::Write) -> io::Result<()> {
    let shown = audit.inputs.iter().filter(|input| input.is_copied());
    let (with, without): (Vec<&Input>, Vec<&Input>) =
        shown.partition(|input| !input.sframe.is_empty());
    let shared = audit.inputs.iter().filter(|input| !input.is_copied()).count();
    writeln!(out, "\n{} with SFrame", counted(with.len() as u64, "input"))?;
    for input in with.iter().take(LISTED) {
        writeln!(out, "  {}", printable(&input.name))?;
        let why =
            input.pulled_by.as_ref().map(|symbol| format!(", pulled in for {}", printable(symbol)));
        for section in &input.sframe {
            let functions = counted(section.functions, "function");
            let assembler = section.assembler();
            let why = why.as_deref().unwrap_or_default();
            writeln!(
                out,
                "    {}: {functions}, {}, written by {assembler}{why}",
                section.title(),
                input.machine
            )?;
        }
    }
    more(out, with.len())?;
    let code = without.iter().filter(|input| input.code > 0).count();
    if !without.is_empty() {
        let inputs = counted(without.len() as u64, "input");
        writeln!(out, "{inputs} without, {code} of them with code")?;
    }
    if shared > 0 {
        writeln!(out, "{}, from which nothing is copied", counted(shared as u64, "shared object"))?;
    }
    Ok(())
}

fn outcome(audit: &Audit, out: &mut impl io::Write) -> io::Result<()> {
    let prediction = &audit.prediction;
    writeln!(out, "\nprediction: {}", prediction.outcome.title())?;
    if let Some(status) = prediction.status {
        writeln!(out, "  exit status {status}")?;
    }
    for message in prediction.messages.iter().take(LISTED) {
        writeln!(out, "  message: {}", printable(message))?;
    }
    more(out, prediction.messages.len())?;
    for section in &prediction.sections {
        let kind = section.section_type.name();
        let at_most = if prediction.at_most { "at most " } else { "" };
        match (section.version, section.size) {
            (_, Some(0)) => writeln!(out, "  .sframe: {kind}, 0 bytes")?,
            (Some(version), size) => {
                let size = size.map(|size| format!(", {at_most}{}", counted(size, "byte")));
                let functions = counted(section.functions, "function");
                let size = size.unwrap_or_default();
                writeln!(
                    out,
                    "  .sframe: V{version}, {kind}, {at_most}{functions} of inputs{size}"
                )?;
            }
            (None, _) => writeln!(out, "  .sframe: {kind}, unreadable")?,
        }
    }
    for note in &prediction.notes {
        writeln!(out, "  {note}")?;
    }
    if prediction.stubs_described {
        writeln!(out, "  the linker's stubs (PLT) are described as well")?;
    }
    Ok(())
}

fn coverage(audit: &Audit, out: &mut impl io::Write) -> io::Result<()> {
    let coverage = &audit.coverage;
    if matches!(audit.prediction.outcome, Outcome::Fails | Outcome::Crashes | Outcome::Unknown) {
        return Ok(());
    }
    let (described, code) = (coverage.described, coverage.code);
    let share = percent(described, code);
    writeln!(
        out,
        "\ncode with SFrame: {share} ({} of {} bytes)",
        grouped(described),
        grouped(code)
    )?;
    for uncovered in coverage.uncovered.iter().take(LISTED) {
        let (bytes, of) = (grouped(uncovered.bytes), grouped(uncovered.code));
        let name = printable(&uncovered.input);
        writeln!(out, "  without: {name}, {bytes} of {of} bytes: {}", uncovered.reason.title())?;
    }
    more(out, coverage.uncovered.len())?;
    if coverage.stubs {
        writeln!(out, "  without: the linker's stubs (PLT)")?;
    }
    Ok(())
}

fn remedies(audit: &Audit, out: &mut impl io::Write) -> io::Result<()> {
    if audit.remedies.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nwhat helps, one of")?;
    for remedy in &audit.remedies {
        writeln!(out, "  - {}", printable(&remedy.text))?;
        for command in &remedy.commands {
            writeln!(out, "      {}", printable(command))?;
        }
    }
    Ok(())
}

fn undecided(audit: &Audit, out: &mut impl io::Write) -> io::Result<()> {
    let unknown = audit.prediction.fates.iter().filter(|fate| **fate == Fate::Unknown).count();
    if audit.undecided.is_empty() && unknown == 0 {
        return Ok(());
    }
    writeln!(out, "\nnot decided")?;
    for reason in audit.undecided.iter().take(LISTED) {
        writeln!(out, "  {}", printable(reason))?;
    }
    more(out, audit.undecided.len())?;
    let bitcode = audit.inputs.iter().filter(|input| input.kind == InputKind::Bitcode).count();
    if bitcode > 0 {
        writeln!(out, "  {} made of bitcode", counted(bitcode as u64, "input"))?;
    }
    Ok(())
}

fn more(out: &mut impl io::Write, count: usize) -> io::Result<()> {
    match count.saturating_sub(LISTED) {
        0 => Ok(()),
        more => writeln!(out, "  and {more} more"),
    }
}
