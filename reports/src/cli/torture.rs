//! `sframe-check torture`.

use std::io;

use super::args::DiffFormat;
use super::args::tools::{LimitArgs, LimitedArgs, TortureArgs};
use super::{Exit, complain, stdout, styled_stdout};
use sframe_harness::torture::{Limits, Options, Reader, Text, json, run_limited, torture};

pub(super) fn run(args: &TortureArgs) -> io::Result<Exit> {
    let program = std::env::current_exe()?;
    let named: Result<Vec<Reader>, String> = args
        .reader
        .iter()
        .map(|text| Reader::new(text, &program).map_err(|why| format!("--reader {text:?}: {why}")))
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
        limits: limits(&args.limits),
        threads: args.threads,
        keep: args.keep.clone(),
        program,
    };
    let report = torture(&readers, &options)?;
    match args.format {
        DiffFormat::Text => Text::new(styled_stdout()).write(&report)?,
        DiffFormat::Json => json::write(&mut stdout(), &report)?,
    }
    Ok(if report.has_failures() {
        Exit::Findings
    } else if report.is_incomplete() {
        Exit::Incomplete
    } else {
        Exit::Clean
    })
}

/// What `torture` starts for each case.
pub(super) fn limited(args: &LimitedArgs) -> io::Result<Exit> {
    run_limited(&args.command, limits(&args.limits), &args.report)?;
    Ok(Exit::Clean)
}

fn limits(args: &LimitArgs) -> Limits {
    Limits { seconds: args.timeout, memory_mib: args.memory }
}
