//! Help, and what is wrong with a command line.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use anstream::AutoStream;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

use super::arguments::{SHARD, arguments};
use super::{Exit, commands, complain, hints};
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
    let arguments = arguments();
    let printable = arguments.iter().map(|argument| printable(argument.as_bytes()));
    match commands::parsed().try_get_matches_from(printable) {
        Err(harmless) => with_our_tips(harmless),
        // As printable text it would have been right.
        Ok(_) => Error::raw(error.kind(), "an argument is not valid text\n"),
    }
}

/// The error with tips that lead to what a person wants. Clap takes more words for similar, and an option that does not exist for
/// a file.
fn with_our_tips(mut error: Error) -> Error {
    let (about, similar) = match error.kind() {
        ErrorKind::UnknownArgument => (ContextKind::InvalidArg, ContextKind::SuggestedArg),
        ErrorKind::InvalidValue => (ContextKind::InvalidValue, ContextKind::SuggestedValue),
        _ => return error,
    };
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    let (Some(given), suggested) = (text(about), text(similar)) else { return error };
    let word = given.trim_start_matches('-');
    let answer = hints::answer(word);
    let is_similar = |name: &String| hints::is_meant(word, name.trim_start_matches('-'));
    if answer.is_some() || !suggested.as_ref().is_some_and(is_similar) {
        error.remove(similar);
    }
    let is_option = word.len() < given.len();
    let commands = || is_option.then(|| of_commands(&given, word)).flatten();
    if let Some(tip) = answer.or_else(commands) {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    } else if !Path::new(&given).exists() {
        error.remove(ContextKind::Suggested);
    }
    error
}

/// `--gc-sections is an option of the command forecast`.
fn of_commands(option: &str, name: &str) -> Option<String> {
    let commands: Vec<String> =
        hints::commands_with(name).iter().map(|command| format!("`{command}`")).collect();
    match commands.as_slice() {
        [] => None,
        [command] => Some(format!("`{option}` is an option of the command {command}")),
        several => Some(format!("`{option}` is an option of the commands {}", several.join(", "))),
    }
}

/// The exit status of wrong usage. Engines that run shards must not try the same command again.
fn wrong_usage() -> Exit {
    let arguments = arguments();
    let words: Vec<&OsStr> = arguments.iter().skip(1).take(2).map(AsRef::as_ref).collect();
    let never = ["scan", "status", "merge"].iter().any(|name| words == [SHARD, name]);
    if never { Exit::Never } else { Exit::Failure }
}
