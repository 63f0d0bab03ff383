//! `sframe-check conformance`.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use sframe_conformance::{
    Command, LoadError, Outcome, Validator, Vector, Verdict, load, run as answers, vectors,
};
use sframe_record::numbers::{counted, grouped};
use sframe_record::text::printable;

use super::args::DocumentFormat;
use super::args::conformance::ConformanceArgs;
use super::{Exit, complain, stdout, styled_stdout};
use crate::conformance as json;

const BOLD: Style = Style::new().bold();
const WRONG: Style = AnsiColor::Red.on_default().bold();

/// The number of wrong answers to a vector that are listed.
const LISTED: usize = 3;

pub(super) fn run(args: &ConformanceArgs) -> io::Result<Exit> {
    let mut vectors = match chosen(args) {
        Ok(vectors) => vectors,
        Err(error) => {
            complain(&error)?;
            return Ok(Exit::Failure);
        }
    };
    let wanted = args.only.as_deref().unwrap_or_default();
    vectors.retain(|vector| vector.name.contains(wanted));
    let outcomes = match &args.reader {
        None => answers(&mut Validator::default(), &vectors),
        Some(text) => {
            let words = shlex::split(text)
                .ok_or_else(|| io::Error::other(format!("--reader: unfinished quotes: {text}")))?;
            let mut reader = Command::new(words, Duration::from_secs(args.timeout));
            let failed = |error| io::Error::other(format!("--reader {text}: {error}"));
            reader.start().map_err(failed)?;
            answers(&mut reader, &vectors)
        }
    };
    match args.format {
        DocumentFormat::Text => text(&mut styled_stdout(), &outcomes)?,
        DocumentFormat::Json => json::write(&mut stdout(), &outcomes)?,
    }
    let has = |verdict| outcomes.iter().any(|outcome| outcome.verdict == verdict);
    Ok(match (has(Verdict::Fail), has(Verdict::Pass)) {
        (true, _) => Exit::Findings,
        (false, true) => Exit::Clean,
        (false, false) => Exit::Incomplete,
    })
}

fn chosen(args: &ConformanceArgs) -> Result<Vec<Vector>, LoadError> {
    args.vectors.as_deref().map_or_else(|| Ok(vectors()), load)
}

/// Passed, failed and unsupported vectors.
type Counts = [u64; 3];

/// A line for each clause, with what is wrong below it.
fn text(out: &mut dyn Write, outcomes: &[Outcome]) -> io::Result<()> {
    let mut clauses: BTreeMap<&str, (Counts, Vec<&Outcome>)> = BTreeMap::new();
    let mut all = Counts::default();
    for outcome in outcomes {
        let folder = outcome.name.rsplit_once('/').map_or("", |(folder, _)| folder);
        let (counts, failed) = clauses.entry(folder).or_default();
        for counts in [counts, &mut all] {
            let [pass, fail, unsupported] = counts;
            *match outcome.verdict {
                Verdict::Pass => pass,
                Verdict::Fail => fail,
                Verdict::Unsupported => unsupported,
            } += 1;
        }
        failed.extend((outcome.verdict == Verdict::Fail).then_some(outcome));
    }
    for (clause, ([pass, fail, unsupported], failed)) in clauses {
        let supported = pass.saturating_add(fail);
        let rest = match unsupported {
            0 => String::new(),
            number => format!(", {} not supported", grouped(number)),
        };
        let right = format!("{} of {} right", grouped(pass), grouped(supported));
        let style = if fail > 0 { WRONG } else { Style::new() };
        writeln!(out, "{:<40} {style}{right}{style:#}{rest}", printable(clause))?;
        for outcome in failed {
            writeln!(out, "  {BOLD}{}{BOLD:#}", printable(&outcome.name))?;
            for wrong in outcome.wrong.iter().take(LISTED) {
                writeln!(out, "    {}", printable(wrong))?;
            }
            if let Some(more) = outcome.wrong.len().checked_sub(LISTED).filter(|more| *more > 0) {
                writeln!(out, "    and {}", counted(more as u64, "more wrong answer"))?;
            }
        }
    }
    let [pass, fail, unsupported] = all.map(grouped);
    let vectors = counted(outcomes.len() as u64, "vector");
    writeln!(
        out,
        "{BOLD}{vectors}{BOLD:#}: {pass} right, {fail} wrong, {unsupported} not supported"
    )?;
    out.flush()
}
