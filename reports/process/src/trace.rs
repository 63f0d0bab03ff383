//! Traces a program step by step, and compares the rows of every witness with the callers that its calls and returns
//! show. For AMD64 Linux.
//!
//! At each PC that is executed for the first time, the row of each witness has to recover the return address, the
//! caller's SP and the caller's FP. The truth is a shadow stack for each thread: a call adds the return address and the
//! registers of the caller, the return takes them away. Where calls and returns are not in this order, the shadow stack
//! knows that it does not know, and the PC is undecided.

#[cfg_attr(
    not(all(target_os = "linux", target_arch = "x86_64")),
    expect(dead_code, reason = "nothing is traced on other machines")
)]
mod outcome;

mod known;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod bare;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod checks;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod engine;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod judge;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod kind;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod shadow;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod space;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod thread;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod true_frame;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod watch;

use std::ffi::OsString;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

pub use known::{KnownDefect, WrongRow};
pub use outcome::{End, Example, Fields, ModuleTrace, Reason, Trace, WitnessTrace, WrongFunction};

/// A program to trace, and when to stop.
#[derive(Clone, Debug)]
pub struct TraceOptions {
    /// The program: a path, or a name to look for in `PATH`.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// The number of steps after which the program is ended.
    pub max_steps: Option<u64>,
    /// The time after which the program is ended.
    pub time_limit: Option<Duration>,
    /// Whether the program runs at full speed until its executable starts, so that the dynamic linker's work before that
    /// is not checked.
    pub from_entry: bool,
    /// Whether this program and the traced one stay on one processor, which is faster.
    pub pin: bool,
    /// Names the known defect that a wrong row of SFrame is a case of.
    pub known: KnownDefect,
    /// Ends the program when it becomes true.
    pub interrupted: Arc<AtomicBool>,
}

/// The numbers so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// The number of steps.
    pub steps: u64,
    /// The number of different PCs.
    pub pcs: u64,
    /// The number of wrong rows.
    pub wrong: u64,
    /// How many of them are cases of known defects.
    pub known: u64,
}

/// Traces a program until all of its processes have ended. Calls `progress` every now and then.
///
/// # Errors
/// Returns an error if the program cannot be started or traced.
pub fn trace(options: &TraceOptions, progress: &mut dyn FnMut(Progress)) -> io::Result<Trace> {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    return engine::run(options, progress);
    #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
    {
        let _ = (options, progress);
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "programs can be traced only on AMD64 Linux",
        ))
    }
}

/// Steps a program with one thread, and does nothing else: the measure for the rate of [`trace`]. Returns the number of
/// steps and the time that they have taken.
///
/// # Errors
/// Returns an error if the program cannot be started or traced.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub fn bare_steps(options: &TraceOptions) -> io::Result<(u64, Duration)> {
    bare::run(options)
}
