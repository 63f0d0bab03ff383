//! Help, and what is wrong with a command line.

use std::env;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;

use anstream::AutoStream;
use clap::error::{Error, ErrorKind};

use super::{Exit, commands, complain};
use sframe_record::text::printable;

/// Prints what clap has to say instead of running a command.
pub(super) fn answer(error: &Error) -> Exit {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let mut out = AutoStream::auto(io::stdout().lock());
            let written = write!(out, "{}", error.render().ansi()).and_then(|()| out.flush());
            match written {
                Ok(()) => Exit::Clean,
                Err(failed) if failed.kind() == io::ErrorKind::BrokenPipe => Exit::Unread,
                Err(failed) => {
                    let _ = complain(&format!("standard output: {failed}"));
                    Exit::Failure
                }
            }
        }
        _ => {
            // Where standard error is closed, nobody can read why.
            let _ = harmless(error).print();
            wrong_usage()
        }
    }
}

/// The error about arguments that were made printable: clap repeats what it does not understand, and
/// no argument may reach the terminal as a control sequence.
fn harmless(error: &Error) -> Error {
    let arguments = commands::arguments();
    let printable = arguments.iter().map(|argument| printable(argument.as_bytes()));
    match commands::by_task().try_get_matches_from(printable) {
        Err(harmless) => harmless,
        // As printable text it would have been right.
        Ok(_) => Error::raw(error.kind(), "an argument is not valid text\n"),
    }
}

/// The exit status of wrong usage. Engines that run shards must not try the same command again.
fn wrong_usage() -> Exit {
    let command = env::args_os().nth(1);
    let of_shards = ["scan", "status", "merge"].map(OsStr::new);
    let never = command.is_some_and(|command| of_shards.contains(&command.as_os_str()));
    if never { Exit::Never } else { Exit::Failure }
}
