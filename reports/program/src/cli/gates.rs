//! What a scan has to find, besides no findings.

use sframe_record::numbers::{counted, grouped, percent_below};
use sframe_record::{FailedGate, NotAccepted, Outcome, ReadingTotal, Severity, Summary};

use super::Exit;
use super::args::Level;
use super::args::policy::{GateArgs, PolicyArgs};

/// The gates that a scan does not pass.
pub(super) fn failed(gates: &GateArgs, summary: &Summary<'_>) -> Vec<FailedGate<'static>> {
    readable(gates, summary).chain(covered(gates, summary)).chain(proven(gates, summary)).collect()
}

/// The exit status of a scan that has to pass gates.
pub(super) fn gated(policy: &PolicyArgs, gates: &GateArgs, summary: &Summary<'_>) -> Exit {
    let status = match gates.write_baseline {
        Some(_) => exit(Level::Never, summary),
        None => exit(policy.fail_on, summary),
    };
    match status {
        _ if summary.fails_a_gate() => Exit::Findings,
        Exit::Clean if !summary.failed_gates.is_empty() => Exit::Incomplete,
        status => status,
    }
}

/// `--require-readable`: an entry for each consumer that does not accept all sections.
fn readable(gates: &GateArgs, summary: &Summary<'_>) -> impl Iterator<Item = FailedGate<'static>> {
    let readings = summary.readings.iter().filter(|_| gates.require_readable);
    readings.filter_map(|of| {
        let first = of.not_accepted.as_ref()?;
        Some(FailedGate {
            gate: "require-readable".into(),
            undecided: first.outcome == Outcome::Undecided,
            message: unreadable(of, first).into(),
        })
    })
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
fn covered(gates: &GateArgs, summary: &Summary<'_>) -> Option<FailedGate<'static>> {
    let least = gates.min_coverage.filter(|_| summary.code_bytes > 0)?;
    let share = 100.0 * summary.covered_bytes as f64 / summary.code_bytes as f64;
    if share >= least {
        return None;
    }
    let (covered, code) = (grouped(summary.covered_bytes), grouped(summary.code_bytes));
    let share = percent_below(summary.covered_bytes, summary.code_bytes);
    let message = format!(
        "SFrame describes {share} of the code ({covered} of {code} bytes), less than --min-coverage {least}"
    );
    Some(FailedGate { gate: "min-coverage".into(), undecided: false, message: message.into() })
}

/// `--min-proven`: an entry for each witness about whose rows the machine code proves less.
fn proven(gates: &GateArgs, summary: &Summary<'_>) -> Vec<FailedGate<'static>> {
    let Some(least) = gates.min_proven else { return Vec::new() };
    let failed = |message: String| FailedGate {
        gate: "min-proven".into(),
        undecided: false,
        message: message.into(),
    };
    let Some(total) = &summary.proofs else {
        let message = "--min-proven: no rows were compared with machine code, as --thorough does";
        return vec![failed(message.to_owned())];
    };
    let noun = summary.tables();
    let witnesses = [("SFrame", &total.proofs.sframe), (noun, &total.proofs.cfi)];
    let too_few = witnesses.into_iter().filter_map(|(witness, bytes)| {
        let bytes = bytes.as_ref()?;
        let share = 100.0 * bytes.proven as f64 / bytes.total() as f64;
        (share < least).then(|| {
            let (right, all) = (grouped(bytes.proven), counted(bytes.total(), "byte"));
            let share = percent_below(bytes.proven, bytes.total());
            failed(format!(
                "the machine code proves {witness} right for {share} ({right} of {all}), less than --min-proven {least}"
            ))
        })
    });
    too_few.collect()
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
