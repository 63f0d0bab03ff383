//! A command under limits: the work of a process that is started for each case.
//!
//! It sets the limits for itself, so that the command inherits them, and afterwards tells what the
//! command cost: the system counts that by waiting process, and a process that waits for many can
//! tell none of them apart.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use nix::sys::resource::{Resource, UsageWho, getrusage, setrlimit};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use super::Limits;

/// The most bytes of a file that a command may write; none of the readers should write any.
const FILE_SIZE: u64 = 64 << 20;

/// How a command ended, and what it cost.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Ended {
    /// The exit status.
    pub(super) status: Option<i32>,
    /// The signal that ended it.
    pub(super) signal: Option<i32>,
    /// Why it could not be started.
    pub(super) not_started: Option<String>,
    /// Processor time, in milliseconds.
    pub(super) processor_ms: u64,
    /// The most memory that was resident, in KiB.
    pub(super) peak_kib: u64,
}

/// Runs `command` under `limits` and writes how it ended to `report`.
///
/// # Errors
/// The limits cannot be set, or the report cannot be written.
pub fn run_limited(command: &[OsString], limits: Limits, report: &Path) -> io::Result<()> {
    end_with_parent()?;
    set(limits)?;
    let ended = run(command)?;
    fs::write(report, serde_json::to_vec(&ended)?)
}

/// Ends the process group, and the command with it, once nobody holds the other end of standard input. Signals from
/// a terminal do not get here, for the group is not the terminal's; and of its own end by SIGKILL no process can tell.
fn end_with_parent() -> io::Result<()> {
    let watch = || {
        // Nothing is written to it.
        let _ = io::stdin().read(&mut [0]);
        kill_group(std::process::id());
    };
    // The address space is what the command may have.
    thread::Builder::new().stack_size(1 << 16).spawn(watch).map(drop)
}

/// Ends the process group that a process leads.
pub(super) fn kill_group(leader: u32) {
    if let Ok(group) = i32::try_from(leader) {
        // It may have ended by now, or lead none.
        let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
    }
}

fn set(limits: Limits) -> io::Result<()> {
    // Past the soft limit a process gets SIGXCPU, past the hard one SIGKILL.
    setrlimit(Resource::RLIMIT_CPU, limits.seconds, limits.seconds.saturating_add(1))?;
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    setrlimit(Resource::RLIMIT_FSIZE, FILE_SIZE, FILE_SIZE)?;
    if let Some(memory) = limits.memory_mib.checked_mul(1 << 20).filter(|bytes| *bytes > 0) {
        setrlimit(Resource::RLIMIT_AS, memory, memory)?;
    }
    Ok(())
}

fn run(command: &[OsString]) -> io::Result<Ended> {
    let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let status = Command::new(program).args(arguments).stdin(Stdio::null()).status();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let milliseconds = [usage.user_time(), usage.system_time()]
        .map(|time| time.tv_sec().saturating_mul(1000).saturating_add(time.tv_usec() / 1000));
    Ok(Ended {
        status: status.as_ref().ok().and_then(|status| status.code()),
        signal: status.as_ref().ok().and_then(|status| status.signal()),
        not_started: status.err().map(|error| error.to_string()),
        processor_ms: milliseconds.iter().sum::<i64>().try_into().unwrap_or(0),
        peak_kib: usage.max_rss().try_into().unwrap_or(0),
    })
}
