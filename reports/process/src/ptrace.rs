//! Control of traced programs: start, single steps, stops.
//!
//! A program that is traced dies with this one. All of its threads and children are traced as well.

mod raw;

use std::ffi::OsString;
use std::io;

use nix::errno::Errno;
use nix::libc;
use nix::sched::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use sframe_validator::Endian;

use crate::auxv::{AT_ENTRY, AuxiliaryVector};

/// The registers of a stopped thread.
pub(crate) type Registers = libc::user_regs_struct;

/// A change of the state of a traced thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It has stopped with SIGTRAP: it has executed an instruction, started a signal handler, or received this signal.
    Trap,
    /// It is about to receive a signal with this number.
    Signal(i32),
    /// It has made a thread or process, whose id is this one.
    Child(Pid),
    /// It executes another program. Its id was this one.
    Exec(Pid),
    /// It has ended with this status.
    Exited(i32),
    /// A signal with this number has ended it.
    Killed(i32),
    /// Something else, which needs no attention.
    Other,
}

/// Starts a program, stopped at its first instruction, with addresses that do not change from run to run if the system
/// permits it.
///
/// # Errors
/// Returns an error if the program cannot be started or traced.
pub(crate) fn start(program: &OsString, arguments: &[OsString]) -> io::Result<Pid> {
    let pid = raw::spawn(program, arguments)?;
    match wait()? {
        Some((stopped, Stop::Trap)) if stopped == pid => {}
        _ => return Err(io::Error::other("the program did not stop at its start")),
    }
    let options = Options::PTRACE_O_EXITKILL
        | Options::PTRACE_O_TRACECLONE
        | Options::PTRACE_O_TRACEFORK
        | Options::PTRACE_O_TRACEVFORK
        | Options::PTRACE_O_TRACEEXEC;
    ptrace::setoptions(pid, options)?;
    Ok(pid)
}

/// The debug register that enables breakpoints, and the value for one in register 0, on execution.
const CONTROL: (usize, u64) = (7, 1);

/// Lets a program that was started run to the entry of its executable, after the dynamic linker has done its work.
///
/// # Errors
/// Returns an error if the program does not get there.
pub(crate) fn run_to_entry(pid: Pid) -> io::Result<()> {
    let vector = std::fs::read(format!("/proc/{pid}/auxv"))?;
    let entry = AuxiliaryVector::parse(&vector, Endian::Little).get(AT_ENTRY);
    let entry = entry.ok_or_else(|| io::Error::other("the program's entry is unknown"))?;
    raw::write_debug_register(pid, 0, entry)?;
    raw::write_debug_register(pid, CONTROL.0, CONTROL.1)?;
    ptrace::cont(pid, None)?;
    let stopped = wait()?;
    let is_there = || Ok::<bool, io::Error>(registers(pid)?.is_some_and(|r| r.rip == entry));
    if stopped != Some((pid, Stop::Trap)) || !is_there()? {
        return Err(io::Error::other("the program did not reach its entry"));
    }
    raw::write_debug_register(pid, CONTROL.0, 0)?;
    Ok(())
}

/// Waits for a thread traced by the calling thread. `None` if there is none left.
///
/// # Errors
/// Returns an error if waiting fails.
pub(crate) fn wait() -> io::Result<Option<(Pid, Stop)>> {
    let (pid, status) = match raw::wait() {
        Ok(found) => found,
        Err(Errno::ECHILD) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let stop = if libc::WIFEXITED(status) {
        Stop::Exited(libc::WEXITSTATUS(status))
    } else if libc::WIFSIGNALED(status) {
        Stop::Killed(libc::WTERMSIG(status))
    } else if libc::WIFSTOPPED(status) {
        match (status >> 16, libc::WSTOPSIG(status)) {
            (0, libc::SIGTRAP) => Stop::Trap,
            (0, signal) => Stop::Signal(signal),
            (libc::PTRACE_EVENT_CLONE | libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK, _) => {
                Stop::Child(message(pid)?)
            }
            (libc::PTRACE_EVENT_EXEC, _) => Stop::Exec(message(pid)?),
            _ => Stop::Other,
        }
    } else {
        Stop::Other
    };
    Ok(Some((pid, stop)))
}

/// The id of a thread that an event reports.
fn message(pid: Pid) -> io::Result<Pid> {
    let id = ptrace::getevent(pid)?;
    i32::try_from(id).map(Pid::from_raw).map_err(io::Error::other)
}

/// Lets a thread execute one instruction, after it has received the signal with this number, if it is not 0. A thread
/// that has died is not an error: [`wait`] reports it.
///
/// # Errors
/// Returns an error if the thread cannot be continued.
#[inline]
pub(crate) fn step(pid: Pid, signal: i32) -> io::Result<()> {
    match raw::step(pid, signal) {
        Ok(()) | Err(Errno::ESRCH) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The registers of a stopped thread; `None` if it has died.
///
/// # Errors
/// Returns an error if they cannot be read.
#[inline]
pub(crate) fn registers(pid: Pid) -> io::Result<Option<Registers>> {
    match ptrace::getregs(pid) {
        Ok(registers) => Ok(Some(registers)),
        Err(Errno::ESRCH) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The origin of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The processor or kernel, about a step.
    Step,
    /// A breakpoint instruction, or another process.
    Other,
    /// It is not a signal: the thread has stopped because its process was stopped.
    GroupStop,
}

/// Why a thread has stopped with a signal.
pub(crate) fn origin(pid: Pid) -> Origin {
    match ptrace::getsiginfo(pid) {
        Ok(info) if matches!(info.si_code, libc::TRAP_TRACE | libc::TRAP_BRKPT) => Origin::Step,
        // `ptrace_notify` reports the start of a handler with the number of the signal itself.
        Ok(info) if info.si_code == libc::SIGTRAP => Origin::Step,
        Ok(_) => Origin::Other,
        Err(_) => Origin::GroupStop,
    }
}

/// Ends a process.
pub(crate) fn end(pid: Pid) {
    // It may have ended already.
    let _ = kill(pid, Signal::SIGKILL);
}

/// The processors on which this thread may run, restored when the value is dropped.
pub(crate) struct Pinned(CpuSet);

impl Pinned {
    /// Keeps this thread, and programs that it starts, on one processor: a step then needs no message to another one.
    ///
    /// # Errors
    /// Returns an error if the system does not permit it.
    pub(crate) fn new() -> io::Result<Pinned> {
        let this = Pid::from_raw(0);
        let all = sched_getaffinity(this)?;
        // The system has chosen this processor, so that others, with other traces, are as busy.
        let mut one = CpuSet::new();
        one.set(sched_getcpu()?)?;
        sched_setaffinity(this, &one)?;
        Ok(Pinned(all))
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let _ = sched_setaffinity(Pid::from_raw(0), &self.0);
    }
}
