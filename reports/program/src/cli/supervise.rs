//! Runs the worker process, and starts it again if a file has crashed it. The worker process ends with its parent.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::getppid;

use super::arguments::arguments;
use super::{Exit, UNREAD, interrupt};

/// The number of crashes of the worker without a further complete shard. From the second attempt on, the file that
/// crashed it is checked in a separate process, so a third crash has another cause.
const MOST_IN_VAIN: u32 = 3;

/// Runs this program with these arguments as the worker process, until it ends normally. `done` returns the number of
/// complete shards.
///
/// # Errors
/// Returns an error if the process cannot be started or crashes repeatedly.
pub(super) fn supervise(
    arguments: &[OsString],
    done: impl Fn() -> io::Result<usize>,
) -> io::Result<Exit> {
    // The terminal interrupts both processes. This one does not end, so that it can say what to do.
    let _interrupted = interrupt::flag()?;
    let (mut before, mut in_vain) = (0, 0);
    loop {
        let status = Command::new(env::current_exe()?).args(arguments).status()?;
        if let Some(code) = status.code() {
            return Ok(exit_of(code));
        }
        let signal = status.signal().and_then(|number| Signal::try_from(number).ok());
        if matches!(signal, Some(Signal::SIGINT | Signal::SIGTERM | Signal::SIGHUP)) {
            return Ok(Exit::Interrupted);
        }
        let shards = done()?;
        in_vain = if shards > before { 0 } else { in_vain + 1 };
        before = shards;
        let name = signal.map_or("a signal", Signal::as_str);
        if in_vain >= MOST_IN_VAIN {
            let message = format!(
                "the worker process was ended by {name} {MOST_IN_VAIN} times without completing a shard"
            );
            return Err(io::Error::other(message));
        }
        let next = "the scan continues, and checks the files that it was reading one by one";
        writeln!(io::stderr(), "sframe-check: the worker process was ended by {name}: {next}")?;
    }
}

fn exit_of(code: i32) -> Exit {
    match u8::try_from(code).unwrap_or(u8::MAX) {
        0 => Exit::Clean,
        1 => Exit::Findings,
        2 => Exit::Incomplete,
        64 => Exit::Never,
        75 => Exit::Again,
        UNREAD => Exit::Unread,
        _ => Exit::Failure,
    }
}

/// The arguments of this program, with `more` inserted at `place`.
pub(super) fn own_arguments(place: usize, more: &[&OsStr]) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments().into_iter().skip(1).collect();
    let place = place.min(arguments.len());
    arguments.splice(place..place, more.iter().map(|&argument| argument.to_owned()));
    arguments
}

/// Asks the system to end this process when its parent ends. Returns `false` if the parent has ended already.
pub(super) fn die_with_parent() -> bool {
    let parent = getppid();
    prctl::set_pdeathsig(Signal::SIGKILL).is_ok() && getppid() == parent
}
