//! `sframe-check trace`.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::time::Duration;

use anstream::AutoStream;
use sframe_input::plain_error;
use sframe_policy::Known;
use sframe_process::trace::{Progress, TraceOptions, trace};

use super::args::DocumentFormat;
use super::args::trace::TraceArgs;
use super::{Exit, complain, interrupt, stdout, styled_stdout};
use crate::render::{Display, Line, clock};
use crate::trace::{TraceEnd, TraceReport, known_defect, write_json, write_text};
use sframe_record::numbers::{counted, grouped};
use sframe_record::text::{printable, printable_path};

pub(super) fn run(args: &TraceArgs) -> io::Result<Exit> {
    let Some((program, arguments)) = args.command.split_first() else { return Ok(Exit::Failure) };
    // A report that cannot be written would be lost after the program has run.
    let output = match &args.output {
        Some(path) => match File::create(path) {
            Ok(file) => Some(file),
            Err(error) => {
                complain(&format!("{}: {}", printable_path(path), plain_error(&error)))?;
                return Ok(Exit::Failure);
            }
        },
        None => None,
    };
    let options = TraceOptions {
        program: program.clone(),
        arguments: arguments.to_vec(),
        max_steps: args.max_steps,
        time_limit: args.time_limit.map(Duration::from_secs),
        from_entry: args.from_entry,
        pin: !args.no_pin,
        known: known_defect,
        interrupted: interrupt::flag_for_any_end()?,
    };
    let shown = !args.quiet && io::stderr().is_terminal();
    let mut line = Line::new(shown.then(Display::default));
    let known = Known::from(args.known);
    let traced = trace(&options, &mut |progress| {
        line.show(|elapsed| progress_line(elapsed, progress, known));
    });
    line.finish();
    let traced = match traced {
        Ok(traced) => traced,
        Err(error) => {
            let program = printable(program.as_encoded_bytes());
            complain(&format!("{program} cannot be traced: {}", plain_error(&error)))?;
            return Ok(Exit::Failure);
        }
    };
    let report = TraceReport::new(&args.command, &traced, args.only.as_ref());
    match (output, args.format) {
        (Some(file), DocumentFormat::Text) => {
            let mut out = BufWriter::new(AutoStream::never(file));
            write_text(&mut out, &report, known)?;
            out.flush()?;
        }
        (Some(file), DocumentFormat::Json) => write_json(&mut BufWriter::new(file), &report)?,
        (None, DocumentFormat::Text) => {
            let mut out = styled_stdout();
            write_text(&mut out, &report, known)?;
            out.flush()?;
        }
        (None, DocumentFormat::Json) => write_json(&mut stdout(), &report)?,
    }
    Ok(if report.end == TraceEnd::Interrupted {
        Exit::Interrupted
    } else if report.is_wrong(known) {
        Exit::Findings
    } else if report.is_incomplete() {
        Exit::Incomplete
    } else {
        Exit::Clean
    })
}

/// The steps and their rate, the PCs, and the wrong rows that count.
fn progress_line(elapsed: Duration, progress: Progress, level: Known) -> String {
    let Progress { steps, pcs, wrong, known } = progress;
    let wrong = if level == Known::Deny { wrong } else { wrong.saturating_sub(known) };
    let rate = grouped(steps / elapsed.as_secs().max(1));
    let (steps, pcs) = (counted(steps, "step"), counted(pcs, "PC"));
    format!("{steps}, {rate}/s, {pcs}, {} wrong, {}", grouped(wrong), clock(elapsed.as_secs()))
}
