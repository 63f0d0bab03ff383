//! `sframe-check link`.

use std::ffi::OsString;
use std::io::{self, Write};

use sframe_harness::limited::adopt_orphans;
use sframe_link::{Audit, DriverError, Ends, Linker, Status, json};

use super::args::DocumentFormat;
use super::args::link::LinkArgs;
use super::{Exit, complain, interrupt, stdout, styled_stdout};

pub(super) fn run(args: &LinkArgs) -> io::Result<Exit> {
    let audit = match args.command.as_slice() {
        [] => Audit::of_inputs(args.linker.unwrap_or(Linker::Other), &args.inputs),
        command => match of_command(command)? {
            Ok(audit) => audit,
            Err(DriverError::Interrupted) => return Ok(Exit::Interrupted),
            Err(error) => {
                complain(&error)?;
                return Ok(Exit::Failure);
            }
        },
    };
    match args.format {
        DocumentFormat::Text => {
            let mut out = styled_stdout();
            audit.write_text(&mut out)?;
            out.flush()?;
        }
        DocumentFormat::Json => json::write(&mut stdout(), &audit)?,
    }
    Ok(match audit.status() {
        Status::Clean => Exit::Clean,
        Status::Problem => Exit::Findings,
        Status::Undecided => Exit::Incomplete,
    })
}

/// The audit of a driver's command. No process that the driver has started outlives it, also in another session.
fn of_command(command: &[OsString]) -> io::Result<Result<Audit, DriverError>> {
    let interrupted = interrupt::flag_for_any_end()?;
    let orphans = adopt_orphans()?;
    Ok(Audit::of_command(command, Ends { interrupted: &interrupted, rest: &|| orphans.end() }))
}
