//! Writes the report as text: the failures of each reader, then the scoreboard.

use std::io::{self, Write};
use std::path::Path;

use anstyle::{AnsiColor, Style};
use sframe_validator::Version;

use super::case::{Duty, Format};
use super::report::{Outcome, ReaderReport, Report};
use super::verdict::{Judgement, Verdict};
use sframe_record::numbers::{counted, grouped};
use sframe_record::text::{printable, printable_path};

const BOLD: Style = Style::new().bold();
const WRONG: Style = AnsiColor::Red.on_default().bold();

/// The maximum length of a reader's message.
const MESSAGE: usize = 160;

/// Writes a report as text.
#[derive(Debug)]
pub struct Text<W> {
    out: W,
}

impl<W: Write> Text<W> {
    /// A renderer that writes to `out`.
    pub const fn new(out: W) -> Text<W> {
        Text { out }
    }

    /// Writes the whole report.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written to.
    pub fn write(&mut self, report: &Report) -> io::Result<()> {
        for reader in &report.readers {
            self.reader(reader)?;
        }
        self.scoreboard(report)?;
        self.how_to_reproduce(report.kept.as_deref())?;
        self.out.flush()
    }

    fn reader(&mut self, report: &ReaderReport) -> io::Result<()> {
        let name = printable(report.reader.name.as_bytes());
        let version = report.version.as_deref().map_or("no version".to_owned(), printable);
        writeln!(self.out, "{BOLD}{name}{BOLD:#}: {version}")?;
        writeln!(self.out, "  run as {}", printable(report.reader.to_string().as_bytes()))?;
        match &report.outcomes {
            Err(why) => writeln!(self.out, "  cannot be run: {why}")?,
            Ok(outcomes) if outcomes.is_empty() => writeln!(self.out, "  has not run")?,
            Ok(_) => writeln!(self.out, "  reads {}", formats(report))?,
        }
        for outcome in report.failures() {
            self.failure(outcome)?;
        }
        writeln!(self.out)
    }

    fn failure(&mut self, outcome: &Outcome) -> io::Result<()> {
        let Outcome { case, verdict, end, .. } = outcome;
        write!(self.out, "  {WRONG}{:<6}{WRONG:#}  {case}: {end}", verdict.name())?;
        if *verdict == Verdict::Accept {
            write!(self.out, ", but it cannot be read")?;
        }
        if let Some(rule) = outcome.rule {
            write!(self.out, "; broken rule: {}", rule.page.summary)?;
        }
        writeln!(self.out)?;
        if let Some(reason) = outcome.reason {
            writeln!(self.out, "            {reason}")?;
        }
        if outcome.message.is_empty() {
            return Ok(());
        }
        let message: String = printable(&outcome.message).chars().take(MESSAGE).collect();
        writeln!(self.out, "            {message}")
    }

    fn scoreboard(&mut self, report: &Report) -> io::Result<()> {
        let names: Vec<String> =
            report.readers.iter().map(|r| printable(r.reader.name.as_bytes())).collect();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(6);
        let titles =
            "crash   hang  memory  writes  accepted wrongly | accepted  refused  out of scope";
        writeln!(self.out, "{BOLD}{:<width$}  {titles}{BOLD:#}", "reader")?;
        for (reader, name) in report.readers.iter().zip(&names) {
            if let Err(why) = &reader.outcomes {
                writeln!(self.out, "{name:<width$}  cannot be run: {why}")?;
                continue;
            }
            let [crash, hang, memory, writes, wrong, accepted, refused, out_of_scope] =
                counts(reader).map(grouped);
            writeln!(
                self.out,
                "{name:<width$}  {crash:>5}  {hang:>5}  {memory:>6}  {writes:>6}  {wrong:>16} | \
                 {accepted:>8}  {refused:>7}  {out_of_scope:>12}"
            )?;
        }
        if report.interrupted {
            let ran: usize = report.readers.iter().map(|reader| reader.outcomes().len()).sum();
            let all = report.cases.saturating_mul(report.readers.len() as u64);
            let (ran, all) = (grouped(ran as u64), grouped(all));
            writeln!(self.out, "interrupted: partial, {ran} of {all} cases have run")?;
        }
        let limits = report.limits;
        let memory = match limits.memory_mib {
            0 => "any memory".to_owned(),
            mib => format!("{} MiB", grouped(mib)),
        };
        let seconds = counted(limits.seconds, "second");
        writeln!(
            self.out,
            "{}; limits: {seconds} of processor time, {memory}",
            counted(report.cases, "case")
        )?;
        writeln!(
            self.out,
            "out of scope: refused, as are sound sections of that version and machine"
        )
    }

    fn how_to_reproduce(&mut self, kept: Option<&Path>) -> io::Result<()> {
        match kept {
            Some(folder) => {
                writeln!(self.out, "the files are in {}", printable_path(folder))
            }
            None => writeln!(self.out, "--keep DIR leaves the files in a folder"),
        }
    }
}

/// The columns of the scoreboard.
fn counts(reader: &ReaderReport) -> [u64; 8] {
    let did = |verdict, judgement| {
        reader.count(|outcome| (outcome.verdict, outcome.judgement) == (verdict, judgement))
    };
    use Judgement::{Conforming, NotConforming, OutOfScope};
    [
        did(Verdict::Crash, NotConforming),
        did(Verdict::Hang, NotConforming),
        did(Verdict::Memory, NotConforming),
        did(Verdict::Writes, NotConforming),
        did(Verdict::Accept, NotConforming),
        did(Verdict::Accept, Conforming),
        did(Verdict::Reject, Conforming),
        did(Verdict::Reject, OutOfScope),
    ]
}

/// `V2 AMD64, AArch64; V3 AMD64`.
fn formats(reader: &ReaderReport) -> String {
    let kinds = [
        ("V1", Version::V1, false),
        ("V2", Version::V2, false),
        ("V2 PC-relative", Version::V2, true),
        ("V3", Version::V3, true),
    ];
    let of = |(name, version, pc_relative)| {
        let of_kind = |f: &Format| (f.version, f.pc_relative) == (version, pc_relative);
        let machines: Vec<_> = reader.formats().filter(of_kind).map(|f| f.abi.name()).collect();
        (!machines.is_empty()).then(|| format!("{name} {}", machines.join(", ")))
    };
    let known: Vec<_> = kinds.into_iter().filter_map(of).collect();
    let sound = reader.count(|outcome| outcome.duty == Duty::Read);
    match known.as_slice() {
        [] => format!("none of {sound} sound sections, so its refusals mean nothing"),
        known => known.join("; "),
    }
}
