//! Stops the threads of a process, and lets them continue.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::ptrace;
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use sframe_input::plain_error;
use sframe_validator::Abi;

use super::error::{StopError, ThreadRefusal};
use crate::core_dump::Thread;
use crate::walk::Cursor;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
use crate::walk::Registers;

/// The machine of this program, if its registers can be read.
#[cfg(target_arch = "x86_64")]
pub(super) const HOST: Option<Abi> = Some(Abi::Amd64);
/// The machine of this program, if its registers can be read.
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
pub(super) const HOST: Option<Abi> = Some(Abi::Aarch64Little);
/// The machine of this program, if its registers can be read.
#[cfg(not(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little"))))]
pub(super) const HOST: Option<Abi> = None;

/// How long to wait until a thread stops. One that waits for a device does not.
const PATIENCE: Duration = Duration::from_secs(2);

/// Threads that are stopped until this value is dropped.
#[derive(Debug, Default)]
pub(super) struct Stopped {
    /// Each thread, and the signal that it was about to receive.
    threads: Vec<(Pid, Option<Signal>)>,
    /// Threads that were asked to stop, but have not.
    running: Vec<Pid>,
}

impl Stopped {
    /// Stops all threads of a process.
    pub(super) fn all(pid: u32, problems: &mut Vec<String>) -> Result<Stopped, StopError> {
        let mut stopped = Stopped::default();
        let mut seen = BTreeSet::new();
        let mut refused = None;
        // A thread that is not stopped yet can start another one.
        loop {
            let before = seen.len();
            for id in threads(pid)? {
                if !seen.insert(id) {
                    continue;
                }
                match stopped.stop(id) {
                    // It has just ended.
                    Ok(()) | Err(Errno::ESRCH) => {}
                    Err(reason) => {
                        let reason = refusal(id, reason);
                        problems.push(format!("thread {id} cannot be stopped: {reason}"));
                        refused.get_or_insert(reason);
                    }
                }
            }
            if seen.len() == before {
                break;
            }
        }
        if stopped.threads.is_empty() {
            return Err(refused.map_or(StopError::Ended, StopError::Thread));
        }
        stopped.threads.sort_by_key(|(thread, _)| *thread);
        Ok(stopped)
    }

    fn stop(&mut self, id: i32) -> Result<(), Errno> {
        let thread = Pid::from_raw(id);
        ptrace::seize(thread, ptrace::Options::empty())?;
        self.running.push(thread);
        ptrace::interrupt(thread)?;
        let start = Instant::now();
        loop {
            match waitpid(thread, Some(WaitPidFlag::__WALL | WaitPidFlag::WNOHANG))? {
                WaitStatus::StillAlive if start.elapsed() < PATIENCE => {
                    sleep(Duration::from_micros(200));
                }
                WaitStatus::StillAlive => return Err(Errno::ETIMEDOUT),
                // A signal was on its way. It is delivered when the thread continues.
                WaitStatus::Stopped(_, signal) => {
                    self.threads.push((thread, Some(signal)));
                    break;
                }
                WaitStatus::Exited(..) | WaitStatus::Signaled(..) => return Err(Errno::ESRCH),
                _ => {
                    self.threads.push((thread, None));
                    break;
                }
            }
        }
        self.running.retain(|other| *other != thread);
        Ok(())
    }

    /// The innermost frames of the threads that are stopped.
    pub(super) fn threads(&self, problems: &mut Vec<String>) -> Vec<Thread> {
        let mut threads = Vec::new();
        for (thread, _) in &self.threads {
            let id = thread.as_raw().unsigned_abs();
            match frame(*thread) {
                Ok(frame) => threads.push(Thread { id, signal: 0, frame }),
                Err(reason) => {
                    let reason = plain_error(&reason.into());
                    problems.push(format!("the registers of thread {id} cannot be read: {reason}"));
                }
            }
        }
        threads
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        for (thread, signal) in &self.threads {
            // It fails only if the thread was killed.
            let _ = ptrace::detach(*thread, *signal);
        }
        for thread in &self.running {
            let _ = ptrace::detach(*thread, None);
        }
    }
}

/// Why a thread cannot be stopped.
fn refusal(id: i32, reason: Errno) -> ThreadRefusal {
    if reason != Errno::EPERM {
        return ThreadRefusal::System(reason);
    }
    tracer(id).map_or(ThreadRefusal::NotPermitted, ThreadRefusal::Traced)
}

/// The process that traces a thread, such as a debugger.
fn tracer(id: i32) -> Option<u32> {
    let field = |id: u32, name: &str| -> Option<u32> {
        let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
        status.lines().find_map(|line| line.strip_prefix(name))?.trim().parse().ok()
    };
    let thread = field(id.unsigned_abs(), "TracerPid:").filter(|tracer| *tracer != 0)?;
    field(thread, "Tgid:")
}

/// The identifiers of a process's threads.
fn threads(pid: u32) -> Result<Vec<i32>, StopError> {
    let entries =
        fs::read_dir(format!("/proc/{pid}/task")).map_err(|error| match error.kind() {
            ErrorKind::NotFound => StopError::NoProcess,
            _ => StopError::Io(error),
        })?;
    let names = entries.flatten().map(|entry| entry.file_name());
    let mut ids: Vec<i32> = names.filter_map(|name| name.to_str()?.parse().ok()).collect();
    ids.sort_unstable();
    Ok(ids)
}

/// The registers of a stopped thread.
#[cfg(target_arch = "x86_64")]
fn frame(thread: Pid) -> Result<Cursor, Errno> {
    let r = ptrace::getregs(thread)?;
    Ok(Cursor::innermost(r.rip, Registers::of_thread(&r)))
}

/// The registers of a stopped thread.
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
fn frame(thread: Pid) -> Result<Cursor, Errno> {
    let r = ptrace::getregset::<ptrace::regset::NT_PRSTATUS>(thread)?;
    let mut registers = Registers::of(&r.regs);
    registers.set(Abi::Aarch64Little.sp(), Some(r.sp));
    Ok(Cursor::innermost(r.pc, registers))
}

/// The registers of a stopped thread.
#[cfg(not(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little"))))]
fn frame(_thread: Pid) -> Result<Cursor, Errno> {
    Err(Errno::ENOSYS)
}
