//! `sframe-check conformance`.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use sframe_conformance::{
    Cause, Command, LoadError, Outcome, Validator, Vector, Verdict, causes, clause, load,
    run as answers, vectors,
};
use sframe_record::numbers::{counted, grouped};
use sframe_record::text::printable;

use super::args::DocumentFormat;
use super::args::conformance::ConformanceArgs;
use super::{Exit, complain, stdout, styled_stdout};
use crate::conformance as json;

const BOLD: Style = Style::new().bold();
const WRONG: Style = AnsiColor::Red.on_default().bold();

/// The number of wrong answers to a vector that are listed. Vectors with one cause share the first one.
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
        DocumentFormat::Text => text(&mut styled_stdout(), &outcomes, args.all)?,
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

/// A line for each clause, with what is wrong below it: each cause once, or each vector.
fn text(out: &mut dyn Write, outcomes: &[Outcome], lists_all: bool) -> io::Result<()> {
    let mut clauses: BTreeMap<&str, Counts> = BTreeMap::new();
    let mut all = Counts::default();
    for outcome in outcomes {
        for counts in [clauses.entry(clause(outcome)).or_default(), &mut all] {
            let [pass, fail, unsupported] = counts;
            *match outcome.verdict {
                Verdict::Pass => pass,
                Verdict::Fail => fail,
                Verdict::Unsupported => unsupported,
            } += 1;
        }
    }
    let causes = causes(outcomes);
    for (name, counts) in clauses {
        score(out, name, counts)?;
        if lists_all {
            let failed = outcomes.iter().filter(|outcome| outcome.verdict == Verdict::Fail);
            let failed = failed.filter(|outcome| clause(outcome) == name);
            failed.into_iter().try_for_each(|outcome| wrong(out, outcome, 0))?;
        } else {
            let causes = causes.get(name).into_iter().flatten();
            let more = |cause: &Cause<'_>| cause.vectors.saturating_sub(1);
            causes.into_iter().try_for_each(|cause| wrong(out, cause.example, more(cause)))?;
        }
    }
    let [pass, fail, unsupported] = all.map(grouped);
    let vectors = counted(outcomes.len() as u64, "vector");
    writeln!(
        out,
        "{BOLD}{vectors}{BOLD:#}: {pass} right, {fail} wrong, {unsupported} not supported"
    )?;
    if !lists_all && causes.values().flatten().any(|cause| cause.vectors > 1) {
        writeln!(out, "--all lists every vector with a wrong answer")?;
    }
    out.flush()
}

/// The line of a clause.
fn score(out: &mut dyn Write, clause: &str, counts: Counts) -> io::Result<()> {
    let [pass, fail, unsupported] = counts;
    let supported = pass.saturating_add(fail);
    let rest = match unsupported {
        0 => String::new(),
        number => format!(", {} not supported", grouped(number)),
    };
    let right = format!("{} of {} right", grouped(pass), grouped(supported));
    let style = if fail > 0 { WRONG } else { Style::new() };
    writeln!(out, "{:<40} {style}{right}{style:#}{rest}", printable(clause))
}

/// A vector with its wrong answers, and the number of further vectors with the same cause.
fn wrong(out: &mut dyn Write, outcome: &Outcome, more: usize) -> io::Result<()> {
    let others = match more {
        0 => String::new(),
        number => format!(" and {} like it", counted(number as u64, "more vector")),
    };
    writeln!(out, "  {BOLD}{}{BOLD:#}{others}", printable(&outcome.name))?;
    let listed = if more > 0 { 1 } else { LISTED };
    for wrong in outcome.wrong.iter().take(listed) {
        writeln!(out, "    {}", printable(wrong))?;
    }
    if let Some(more) = outcome.wrong.len().checked_sub(listed).filter(|more| *more > 0) {
        writeln!(out, "    and {}", counted(more as u64, "more wrong answer"))?;
    }
    Ok(())
}
