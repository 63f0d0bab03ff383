//! A loop that steps a program and does nothing else: the measure for the speed of a trace.

use std::io;
use std::time::{Duration, Instant};

use super::TraceOptions;
use crate::ptrace::{self, Pinned, Stop};

/// Steps a program with one thread, and reads its registers after each step, for at most `max_steps` steps. Returns the
/// number of steps and the time that they have taken.
pub(super) fn run(options: &TraceOptions) -> io::Result<(u64, Duration)> {
    let _pinned = if options.pin { Pinned::new().ok() } else { None };
    let pid = ptrace::start(&options.program, &options.arguments)?;
    let most = options.max_steps.unwrap_or(u64::MAX);
    let start = Instant::now();
    let mut steps = 0;
    let mut sum = 0;
    ptrace::step(pid, 0)?;
    while let Some((pid, stop)) = ptrace::wait()? {
        let signal = match stop {
            Stop::Trap => 0,
            Stop::Signal(signal) => signal,
            Stop::Exited(_) | Stop::Killed(_) => break,
            _ => return Err(io::Error::other("the program is not a single thread")),
        };
        sum ^= ptrace::registers(pid)?.map_or(0, |registers| registers.rip);
        steps += 1;
        if steps >= most {
            break;
        }
        ptrace::step(pid, signal)?;
    }
    let elapsed = start.elapsed();
    std::hint::black_box(sum);
    ptrace::end(pid);
    while ptrace::wait()?.is_some() {}
    Ok((steps, elapsed))
}
