//! How a program ended, its output and its cost.

use std::fmt;

use nix::sys::signal::Signal;
use serde::{Deserialize, Serialize};

use super::limits::{FILES_MIB, OUTPUT_MIB, WRITTEN_MIB};

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// With an exit status.
    Status(i32),
    /// By a signal.
    Signal(i32),
    /// It was killed at the limit of elapsed time.
    TimedOut,
    /// It was killed after it had printed more than [`OUTPUT_MIB`].
    Printed,
    /// It was killed after its files had taken more than [`FILES_MIB`], or it had written more than [`WRITTEN_MIB`].
    Wrote,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            End::Status(status) => write!(f, "exit status {status}"),
            End::Signal(number) => match Signal::try_from(*number) {
                Ok(signal) => write!(f, "{signal}"),
                Err(_) => write!(f, "signal {number}"),
            },
            End::TimedOut => f.write_str("ended at the limit of time"),
            End::Printed => write!(f, "ended after {OUTPUT_MIB} MiB of output"),
            End::Wrote => {
                write!(f, "ended after {FILES_MIB} MiB in files, or {WRITTEN_MIB} MiB written")
            }
        }
    }
}

/// The resources that a program used, including those of children that it waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Processor time in milliseconds.
    pub processor_ms: u64,
    /// The peak resident memory in KiB.
    pub peak_kib: u64,
}

/// The result of running a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// How it ended.
    pub end: End,
    /// The start of its standard output.
    pub output: Vec<u8>,
    /// The start of its standard error.
    pub errors: Vec<u8>,
    /// The total number of bytes printed on both streams.
    pub printed: u64,
    /// The resources that it used; `None` if it was killed.
    pub cost: Option<Cost>,
}
