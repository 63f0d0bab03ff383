//! The audit as text.

use std::io;

use sframe_record::numbers::{counted, grouped, percent};
use sframe_record::text::printable;

use crate::audit::{Audit, Status};
use crate::input::{Input, InputKind};
use crate::linker::Linker;
use crate::messages;
use crate::model::{self, Fate, Link, Outcome, OutputSection, Prediction};
use crate::obstacle::ObstacleKind;
use crate::options::Output;
use crate::remedy;

/// The number of inputs, and of inputs without SFrame, that are listed.
const LISTED: usize = 40;
/// The number of messages, of inputs that cause them, and of commands that are listed: the first screen has all of them.
const SHOWN: usize = 6;

impl Audit {
    /// Writes the audit for a terminal: the result, its cause and the remedies first, then the details.
    ///
    /// # Errors
    /// Returns the writer's error.
    pub fn write_text(&self, out: &mut impl io::Write) -> io::Result<()> {
        writeln!(out, "{} by {}", output(self.options.output), linker(self))?;
        outcome(self, out)?;
        remedies(self, out)?;
        undecided(self, out)?;
        coverage(self, out)?;
        inputs(self, out)
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
    more(out, with.len(), LISTED)?;
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
    obstacles(audit, out)?;
    if let Some(status) = prediction.status {
        writeln!(out, "  exit status {status}, as far as SFrame and the inputs decide it")?;
    }
    messages(&prediction.messages, out)?;
    for section in &prediction.sections {
        output_section(section, prediction, out)?;
    }
    for note in &prediction.notes {
        writeln!(out, "  {}", printable(note))?;
    }
    if prediction.stubs_described {
        writeln!(out, "  the linker's stubs (PLT) are described as well")?;
    }
    if !audit.undecided.is_empty() && prediction.outcome != Outcome::Unknown {
        writeln!(out, "  this may be wrong: see \"not decided\"")?;
    }
    offenders(audit, out)
}

/// The messages of the linker, and the pages about them.
fn messages(messages: &[String], out: &mut impl io::Write) -> io::Result<()> {
    for message in messages.iter().take(SHOWN) {
        writeln!(out, "  message: {}", printable(message))?;
    }
    more(out, messages.len(), SHOWN)?;
    let known = messages::find(&messages.join("\n"));
    if !known.is_empty() {
        let ids: Vec<&str> = known.iter().map(|message| message.id).collect();
        writeln!(out, "  explained by: sframe-check explain {}", ids.join(" "))?;
    }
    Ok(())
}

fn output_section(
    section: &OutputSection,
    prediction: &Prediction,
    out: &mut impl io::Write,
) -> io::Result<()> {
    let kind = section.section_type.name();
    let at_most = if prediction.at_most { "at most " } else { "" };
    match (section.version, section.size) {
        (_, Some(0)) => writeln!(out, "  .sframe: {kind}, 0 bytes"),
        (Some(version), size) => {
            let size = size.map(|size| format!(", {at_most}{}", counted(size, "byte")));
            let functions = counted(section.functions, "function");
            let size = size.unwrap_or_default();
            writeln!(out, "  .sframe: V{version}, {kind}, {at_most}{functions} of inputs{size}")
        }
        (None, _) => writeln!(out, "  .sframe: {kind}, unreadable"),
    }
}

/// The inputs because of which SFrame is lost, if another assembler's objects would not lose it.
fn offenders(audit: &Audit, out: &mut impl io::Write) -> io::Result<()> {
    let Some(version) = audit.linker.linker.writes() else { return Ok(()) };
    if audit.status() != Status::Problem || !audit.obstacles.is_empty() {
        return Ok(());
    }
    let link = Link { linker: audit.linker.linker, options: &audit.options, inputs: &audit.inputs };
    let offenders = remedy::offenders(&link);
    if offenders.is_empty() {
        return Ok(());
    }
    let kept =
        if link.linker == Linker::Ld244 { " with starts relative to the section" } else { "" };
    writeln!(
        out,
        "  cause: this linker merges version {version}{kept}, and these inputs have other sections:"
    )?;
    for input in offenders.iter().take(SHOWN) {
        let Some(section) = input.section() else { continue };
        let (title, assembler) = (section.title(), section.assembler());
        let clashes = model::clashes(link.linker, section);
        let ends = if clashes { "; the link fails because of it" } else { "" };
        writeln!(out, "    {}: {title}, written by {assembler}{ends}", printable(&input.name))?;
    }
    more(out, offenders.len(), SHOWN)
}

/// The inputs with which the link fails, and where they were looked for.
fn obstacles(audit: &Audit, out: &mut impl io::Write) -> io::Result<()> {
    for obstacle in audit.obstacles.iter().take(SHOWN) {
        writeln!(out, "  {}", printable(obstacle.title()))?;
        if !obstacle.looked_in.is_empty() {
            let places: Vec<String> = obstacle.looked_in.iter().map(printable).collect();
            let found = match obstacle.kind {
                ObstacleKind::NoLibrary | ObstacleKind::NotFound => "looked for in",
                _ => "looked for as",
            };
            writeln!(out, "    {found} {}", places.join(", "))?;
        }
    }
    more(out, audit.obstacles.len(), SHOWN)
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
    more(out, coverage.uncovered.len(), LISTED)?;
    if coverage.stubs {
        writeln!(out, "  without: the linker's stubs (PLT)")?;
    }
    Ok(())
}

fn remedies(audit: &Audit, out: &mut impl io::Write) -> io::Result<()> {
    if audit.remedies.is_empty() {
        return Ok(());
    }
    let title = if audit.obstacles.is_empty() { "what helps, one of" } else { "what to do" };
    writeln!(out, "\n{title}")?;
    for remedy in &audit.remedies {
        writeln!(out, "  - {}", printable(&remedy.text))?;
        for command in remedy.commands.iter().take(SHOWN) {
            writeln!(out, "      {}", printable(command))?;
        }
        if remedy.commands.len() > SHOWN {
            writeln!(out, "      and so on; --format json has all")?;
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
    for reason in audit.undecided.iter().take(SHOWN) {
        writeln!(out, "  {}", printable(reason))?;
    }
    more(out, audit.undecided.len(), SHOWN)?;
    let bitcode = audit.inputs.iter().filter(|input| input.kind == InputKind::Bitcode).count();
    if bitcode > 0 {
        writeln!(out, "  {} made of bitcode", counted(bitcode as u64, "input"))?;
    }
    Ok(())
}

fn more(out: &mut impl io::Write, count: usize, shown: usize) -> io::Result<()> {
    match count.saturating_sub(shown) {
        0 => Ok(()),
        more => writeln!(out, "  and {more} more"),
    }
}
