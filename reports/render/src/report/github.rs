//! Workflow commands of GitHub Actions, which show findings as annotations beside the code of a change.

use std::io::{self, Write};

use sframe_record::numbers::counted;
use sframe_record::text::printable;
use sframe_record::{Events, Finding, Record, Severity, Status, Summary, Text, with_ruling};

use super::Renderer;

/// The number of annotations of each kind that GitHub shows for a step.
const SHOWN: usize = 10;

/// Writes a command for each of the first findings, at the end of a scan: those that the author of the source can mend first.
pub struct Github<W> {
    out: W,
    /// The first errors and warnings.
    errors: Annotations,
    warnings: Annotations,
}

/// Findings of one severity.
#[derive(Debug, Default)]
struct Annotations {
    /// The commands for the first ones that the author of the source can mend.
    own: Vec<String>,
    /// Those for the first of the others.
    others: Vec<String>,
    /// The number of all.
    count: u64,
}

impl Annotations {
    /// Adds one that the author of the source can mend.
    fn add_own(&mut self, command: impl FnOnce() -> String) {
        self.count = self.count.saturating_add(1);
        if self.own.len() < SHOWN {
            self.own.push(command());
        }
    }

    /// Adds another one.
    fn add_other(&mut self, command: impl FnOnce() -> String) {
        self.count = self.count.saturating_add(1);
        if self.others.len() < SHOWN {
            self.others.push(command());
        }
    }

    fn write(&self, out: &mut dyn Write, noun: &str) -> io::Result<()> {
        let commands: Vec<&String> = self.own.iter().chain(&self.others).take(SHOWN).collect();
        commands.iter().try_for_each(|command| writeln!(out, "{command}"))?;
        match self.count.saturating_sub(commands.len() as u64) {
            0 => Ok(()),
            more => {
                let more = counted(more, &format!("more {noun}"));
                writeln!(out, "{more}: GitHub shows {SHOWN} of a step")
            }
        }
    }
}

impl<W: Write> Github<W> {
    /// A renderer that writes to `out`.
    pub fn new(out: W) -> Github<W> {
        Github { out, errors: Annotations::default(), warnings: Annotations::default() }
    }
}

/// A workflow command: `::error file=f.S,line=3,title=rule::message`.
fn command(kind: &str, properties: &[(&str, String)], message: &str) -> String {
    let properties: Vec<String> =
        properties.iter().map(|(name, value)| format!("{name}={}", property(value))).collect();
    format!("::{kind} {}::{}", properties.join(","), data(message))
}

/// Text after the command, in which line ends and `%` are escaped.
fn data(text: &str) -> String {
    printable(text.replace('%', "%25"))
}

/// The value of a property, in which the characters around it are escaped as well.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

impl<W: Write> Events for Github<W> {
    fn begin(&mut self, _: &Record<'_>) -> io::Result<()> {
        Ok(())
    }

    fn finding(&mut self, head: &Record<'_>, finding: &Finding<'_>) -> io::Result<()> {
        let (kind, annotations) = match finding.severity {
            Severity::Error => ("error", &mut self.errors),
            Severity::Warning if finding.known.is_none() => ("warning", &mut self.warnings),
            Severity::Warning | Severity::Lint => return Ok(()),
        };
        let properties = || match &finding.source {
            Some(source) => {
                vec![("file", source.file.to_string()), ("line", source.line.to_string())]
            }
            None => vec![("file", head.path.to_string())],
        };
        let command = || {
            let mut properties = properties();
            properties.push(("title", finding.rule.to_string()));
            let advice = with_ruling(&finding.advice(), finding.ruling(head.table).as_deref());
            command(kind, &properties, &format!("{}: {advice}", head.name()))
        };
        match finding.is_for_author() {
            true => annotations.add_own(command),
            false => annotations.add_other(command),
        }
        Ok(())
    }

    fn end(&mut self, record: &Record<'_>) -> io::Result<()> {
        if matches!(record.status, Status::Unreadable | Status::Crashed) {
            self.warnings.add_own(|| {
                let why = record.reason.as_ref().map_or("", Text::as_str);
                let properties = [("file", record.path.to_string())];
                command("warning", &properties, &format!("{}: {why}", record.name()))
            });
        }
        Ok(())
    }
}

impl<W: Write> Renderer for Github<W> {
    fn finish(&mut self, summary: &Summary<'_>) -> io::Result<()> {
        for gate in &summary.failed_gates {
            let kind = if gate.undecided { "warning" } else { "error" };
            writeln!(
                self.out,
                "{}",
                command(kind, &[("title", "gate".to_owned())], &gate.message)
            )?;
        }
        self.errors.write(&mut self.out, "error")?;
        self.warnings.write(&mut self.out, "warning")?;
        let (errors, warnings) =
            (counted(summary.errors, "error"), counted(summary.warnings, "warning"));
        writeln!(self.out, "{}: {errors}, {warnings}", counted(summary.checked, "file"))?;
        self.out.flush()
    }
}
