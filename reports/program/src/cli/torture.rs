//! `sframe-check torture`.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use super::args::DocumentFormat;
use super::args::tools::{LimitedArgs, TortureArgs};
use super::{Exit, complain, interrupt, stdout, styled_stdout};
use sframe_consumers::profiles;
use sframe_harness::limited::{Limits, watch};
use sframe_harness::torture::{Follow, Options, Progress, Reader, Text, json, torture};
use sframe_record::text::printable;
use sframe_render::report::{self, Display, Line};

pub(super) fn run(args: &TortureArgs) -> io::Result<Exit> {
    let program = std::env::current_exe()?;
    let named: Result<Vec<Reader>, String> = args
        .reader
        .iter()
        .map(|text| reader(text, &program).map_err(|why| format!("--reader {text:?}: {why}")))
        .collect();
    let readers = match named {
        Ok(named) if named.is_empty() => {
            Reader::all_found(&program, std::env::var_os("PATH").as_ref())
        }
        Ok(named) => named,
        Err(why) => {
            complain(&why)?;
            return Ok(Exit::Failure);
        }
    };
    let options = Options {
        limits: Limits { seconds: args.timeout, memory_mib: args.memory },
        threads: args.threads,
        keep: args.keep.clone(),
        program,
    };
    let shown = !args.quiet && io::stderr().is_terminal();
    let line = Mutex::new(Line::new(shown.then(Display::default)));
    let follower = Follower { line, interrupted: interrupt::flag_for_any_end()? };
    let report = torture(&readers, &options, &follower)?;
    follower.line.into_inner().map_err(io::Error::other)?.finish();
    match args.format {
        DocumentFormat::Text => Text::new(styled_stdout()).write(&report)?,
        DocumentFormat::Json => json::write(&mut stdout(), &report)?,
    }
    Ok(if report.interrupted {
        // It cannot be written if the terminal is closed.
        let _ = complain(&"interrupted: the rest has not run");
        Exit::Interrupted
    } else if report.has_failures() {
        Exit::Findings
    } else if report.is_incomplete() {
        Exit::Incomplete
    } else {
        Exit::Clean
    })
}

/// Shows the progress, and stops the run when the program is interrupted.
struct Follower {
    line: Mutex<Line>,
    interrupted: Arc<AtomicBool>,
}

impl Follow for Follower {
    fn progress(&self, progress: Progress<'_>) {
        // If another thread has locked the line, it shows the same progress.
        if let Ok(mut line) = self.line.try_lock() {
            line.show(|_| line_of(progress));
        }
    }

    fn stop(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

/// The number of finished cases and of all cases, and the reader.
fn line_of(progress: Progress<'_>) -> report::Progress {
    let Progress { reader, done, cases } = progress;
    let name = printable(reader.name.as_bytes());
    report::Progress { done, all: Some(cases), text: String::new(), name }
}

/// The process that watches over one run of a reader.
pub(super) fn limited(args: &LimitedArgs) -> io::Result<Exit> {
    watch(&args.folder, &mut stdout())?;
    Ok(Exit::Clean)
}

/// A reader that the command line names. Consumers have profiles, and are no programs; a harness makes programs of their code.
fn reader(text: &str, program: &Path) -> Result<Reader, String> {
    if profiles().iter().any(|consumer| consumer.page().name == text) {
        return Err(format!(
            "it is a consumer: `corpus/consumers/build` in the repository makes a reader of its code, \
             'corpus/consumers/read target/consumers/bin/{text} {{}}'"
        ));
    }
    Reader::new(text, program).map_err(|error| error.to_string())
}
