//! `sframe-check conformance`.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;
use std::{env, fs};

use anstyle::{AnsiColor, Style};
use nix::errno::Errno;
use sframe_conformance::{
    Cause, Command, LoadError, Outcome, PATIENCE, Validator, Vector, Verdict, causes, clause, load,
    run as answers, vectors,
};
use sframe_harness::limited::{adopt_orphans, attend, attended as with_attendant};
use sframe_record::numbers::{counted, grouped};
use sframe_record::text::printable;

use super::args::DocumentFormat;
use super::args::conformance::ConformanceArgs;
use super::args::tools::AttendedArgs;
use super::{Exit, complain, stdout, styled_stdout};
use sframe_render::conformance as json;

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
            let failed = |error| io::Error::other(format!("--reader {text}: {error}"));
            tested(words, Duration::from_secs(args.timeout), &vectors).map_err(failed)?
        }
    };
    match args.format {
        DocumentFormat::Text => text(&mut styled_stdout(), &outcomes, args)?,
        DocumentFormat::Json => json::write(&mut stdout(), &outcomes)?,
    }
    let has = |verdict| outcomes.iter().any(|outcome| outcome.verdict == verdict);
    Ok(match (has(Verdict::Fail), has(Verdict::Pass)) {
        (true, _) => Exit::Findings,
        (false, true) => Exit::Clean,
        (false, false) => Exit::Incomplete,
    })
}

/// What a reader in another process answers. Its processes end with it.
fn tested(words: Vec<String>, patience: Duration, vectors: &[Vector]) -> io::Result<Vec<Outcome>> {
    // An attendant cannot say that it did not start the program.
    found(words.first().map_or("", String::as_str))?;
    let orphans = adopt_orphans()?;
    let outcomes = answers(&mut Command::new(with_attendant(words)?, patience), vectors);
    orphans.end();
    Ok(outcomes)
}

/// Whether there is such a program: at a path, or in `PATH`.
fn found(program: &str) -> io::Result<()> {
    let executable = |path: &Path| match fs::metadata(path)? {
        found if found.is_file() && found.permissions().mode() & 0o111 != 0 => Ok(()),
        _ => Err(io::Error::from(Errno::EACCES)),
    };
    if program.contains('/') {
        return executable(Path::new(program));
    }
    let folders = env::var_os("PATH").unwrap_or_default();
    let mut named = env::split_paths(&folders).map(|folder| folder.join(program));
    let is_found = named.any(|path| executable(&path).is_ok());
    is_found.then_some(()).ok_or(io::Error::from(Errno::ENOENT))
}

/// `attended -- COMMAND`: the process that starts a reader, and ends like it.
pub(super) fn attended(args: &AttendedArgs) -> Exit {
    let Some((program, arguments)) = args.command.split_first() else { return Exit::Failure };
    attend(program, arguments).map_or(Exit::Failure, Exit::Like)
}

fn chosen(args: &ConformanceArgs) -> Result<Vec<Vector>, LoadError> {
    args.vectors.as_deref().map_or_else(|| Ok(vectors()), load)
}

/// Passed, failed, unsupported and untested vectors.
type Counts = [u64; 4];

/// A line for each clause, with what is wrong below it: each cause once, or each vector.
fn text(out: &mut dyn Write, outcomes: &[Outcome], args: &ConformanceArgs) -> io::Result<()> {
    let mut clauses: BTreeMap<&str, Counts> = BTreeMap::new();
    let mut all = Counts::default();
    for outcome in outcomes {
        for counts in [clauses.entry(clause(outcome)).or_default(), &mut all] {
            let [pass, fail, unsupported, untested] = counts;
            *match outcome.verdict {
                Verdict::Pass => pass,
                Verdict::Fail => fail,
                Verdict::Unsupported => unsupported,
                Verdict::Untested => untested,
            } += 1;
        }
    }
    let causes = causes(outcomes);
    for (name, counts) in clauses {
        score(out, name, counts)?;
        if args.all {
            let failed = outcomes.iter().filter(|outcome| outcome.verdict == Verdict::Fail);
            let failed = failed.filter(|outcome| clause(outcome) == name);
            failed.into_iter().try_for_each(|outcome| wrong(out, outcome, 0))?;
        } else {
            let causes = causes.get(name).into_iter().flatten();
            let more = |cause: &Cause<'_>| cause.vectors.saturating_sub(1);
            causes.into_iter().try_for_each(|cause| wrong(out, cause.example, more(cause)))?;
        }
    }
    let skipped = all.last().is_some_and(|untested| *untested > 0);
    let [pass, fail, unsupported, untested] = all.map(grouped);
    let vectors = counted(outcomes.len() as u64, "vector");
    writeln!(
        out,
        "{BOLD}{vectors}{BOLD:#}: {pass} right, {fail} wrong, {unsupported} not supported{}",
        if skipped { format!(", {untested} not tested") } else { String::new() }
    )?;
    if skipped {
        writeln!(
            out,
            "given up: the reader did not answer in time for {PATIENCE} vectors in a row; --only tests others, --timeout SECONDS waits longer"
        )?;
    }
    if !args.all && causes.values().flatten().any(|cause| cause.vectors > 1) {
        writeln!(out, "--all lists every vector with a wrong answer")?;
    }
    out.flush()
}

/// The line of a clause.
fn score(out: &mut dyn Write, clause: &str, counts: Counts) -> io::Result<()> {
    let [pass, fail, unsupported, untested] = counts;
    let supported = pass.saturating_add(fail);
    let rest = |number, what: &str| match number {
        0 => String::new(),
        number => format!(", {} not {what}", grouped(number)),
    };
    let rest = rest(unsupported, "supported") + &rest(untested, "tested");
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
