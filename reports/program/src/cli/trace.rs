//! `sframe-check trace`.

use std::ffi::OsStr;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::time::Duration;

use anstream::StripStream;
use sframe_input::plain_error;
use sframe_policy::Known;
use sframe_process::trace::{Progress, TraceOptions, trace};

use super::args::DocumentFormat;
use super::args::trace::TraceArgs;
use super::output_file::{Content, OutputFiles};
use super::{Exit, complain, interrupt, stdout, styled_stdout};
use sframe_record::numbers::{counted, grouped};
use sframe_record::text::printable;
use sframe_render::report::{self, Display, Line, clock};
use sframe_render::trace::{TraceEnd, TraceReport, known_defect, write_json, write_text};

pub(super) fn run(args: &TraceArgs) -> io::Result<Exit> {
    let Some((program, arguments)) = args.command.split_first() else { return Ok(Exit::Failure) };
    // A report that cannot be written would be lost after the program has run.
    let output = match &args.output {
        Some(path) => Some(OutputFiles::of(found(program)).create(path, Content::Report)?),
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
        line.show(|elapsed| line_of(elapsed, progress, known));
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
        (Some((file, out)), format) => {
            match format {
                DocumentFormat::Text => {
                    let out: Box<dyn Write> = Box::new(out);
                    let mut out = StripStream::new(out);
                    write_text(&mut out, &report, known)?;
                    out.flush()?;
                }
                DocumentFormat::Json => {
                    let mut out = out;
                    write_json(&mut out, &report)?;
                    out.flush()?;
                }
            }
            file.finish()?;
        }
        (None, DocumentFormat::Text) => {
            let mut out = styled_stdout();
            write_text(&mut out, &report, known)?;
            out.flush()?;
        }
        (None, DocumentFormat::Json) => write_json(&mut stdout(), &report)?,
    }
    Ok(exit(&report, known))
}

fn exit(report: &TraceReport, known: Known) -> Exit {
    match report.end {
        TraceEnd::Interrupted => Exit::Interrupted,
        _ if report.is_wrong(known) => Exit::Findings,
        TraceEnd::Killed => Exit::Died,
        TraceEnd::MaxSteps | TraceEnd::TimeLimit => Exit::Limit,
        TraceEnd::Exited if report.is_incomplete() => Exit::Incomplete,
        TraceEnd::Exited => Exit::Clean,
    }
}

/// The files that may be the program: as the name says or, without a folder in it, in each folder of the path.
fn found(program: &OsStr) -> Vec<PathBuf> {
    if program.as_encoded_bytes().contains(&b'/') {
        return vec![program.into()];
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).map(|folder| folder.join(program)).collect()
}

/// The steps and their rate, the PCs, and the wrong rows that count.
fn line_of(elapsed: Duration, progress: Progress, level: Known) -> report::Progress {
    let Progress { steps, pcs, wrong, known } = progress;
    let wrong = if level == Known::Deny { wrong } else { wrong.saturating_sub(known) };
    let rate = grouped(steps / elapsed.as_secs().max(1));
    let (steps, pcs) = (counted(steps, "step"), counted(pcs, "PC"));
    let text =
        format!("{steps}, {rate}/s, {pcs}, {} wrong, {}", grouped(wrong), clock(elapsed.as_secs()));
    report::Progress { done: progress.steps, all: None, text, name: String::new() }
}
