//! What a scan has to find, besides no findings.

use std::io;

use sframe_record::numbers::{counted, grouped, percent};
use sframe_record::{NotAccepted, Outcome, ReadingTotal, Severity, Summary};

use super::args::Level;
use super::args::policy::{GateArgs, PolicyArgs};
use super::{Exit, complain};

/// The exit status of a scan that has to pass gates.
pub(super) fn gated(
    policy: &PolicyArgs,
    gates: &GateArgs,
    summary: &Summary<'_>,
) -> io::Result<Exit> {
    let status = match gates.write_baseline {
        Some(_) => exit(Level::Never, summary),
        None => exit(policy.fail_on, summary),
    };
    let status = readable(gates, summary, status)?;
    covered(gates, summary, status)
}

/// `--require-readable`: a line for each consumer that does not accept all sections.
fn readable(gates: &GateArgs, summary: &Summary<'_>, mut status: Exit) -> io::Result<Exit> {
    if !gates.require_readable {
        return Ok(status);
    }
    for of in &summary.readings {
        let Some(first) = &of.not_accepted else { continue };
        complain(&unreadable(of, first))?;
        status = match (first.outcome, status) {
            (Outcome::Undecided, Exit::Clean) => Exit::Incomplete,
            (Outcome::Undecided, status) => status,
            _ => Exit::Findings,
        };
    }
    Ok(status)
}

/// `glibc-2.43 does not accept libfoo.so (ignore): only version 2 is read; nor 3 more files`.
fn unreadable(of: &ReadingTotal<'_>, first: &NotAccepted<'_>) -> String {
    let further = of.all().saturating_sub(of.count(Outcome::Accept)).saturating_sub(1);
    let further = match further {
        0 => String::new(),
        count => format!("; nor {}", counted(count, "more file")),
    };
    let (consumer, file, outcome) = (&*of.consumer, &*first.file, first.outcome.name());
    let reason = &*first.reason;
    if first.outcome == Outcome::Undecided {
        return format!("it is undecided whether {consumer} accepts {file}: {reason}{further}");
    }
    format!("{consumer} does not accept {file} ({outcome}): {reason}{further}")
}

/// `--min-coverage`.
fn covered(gates: &GateArgs, summary: &Summary<'_>, status: Exit) -> io::Result<Exit> {
    let Some(least) = gates.min_coverage.filter(|_| summary.code_bytes > 0) else {
        return Ok(status);
    };
    let share = 100.0 * summary.covered_bytes as f64 / summary.code_bytes as f64;
    if share >= least {
        return Ok(status);
    }
    let (covered, code) = (grouped(summary.covered_bytes), grouped(summary.code_bytes));
    let share = percent(summary.covered_bytes, summary.code_bytes);
    complain(&format!(
        "SFrame describes {share} of the code ({covered} of {code} bytes), less than --min-coverage {least}"
    ))?;
    Ok(Exit::Findings)
}

/// The exit status for the findings of a scan.
pub(super) fn exit(level: Level, summary: &Summary<'_>) -> Exit {
    let least = level.severity().map(Severity::from);
    let found = summary.worst().zip(least).is_some_and(|(worst, least)| worst <= least);
    if found {
        Exit::Findings
    } else if summary.is_incomplete() {
        Exit::Incomplete
    } else {
        Exit::Clean
    }
}
