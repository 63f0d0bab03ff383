//! How a program ended, and what it printed and cost.

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
    /// It was ended at the limit of time by the clock.
    TimedOut,
    /// It was ended after it had printed more than [`OUTPUT_MIB`].
    Printed,
    /// It was ended after its files had taken more than [`FILES_MIB`], or it had written more than [`WRITTEN_MIB`].
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

/// What a program used, together with the children that it has waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Processor time in milliseconds.
    pub processor_ms: u64,
    /// The most memory that was resident, in KiB.
    pub peak_kib: u64,
}

/// What a program did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// How it ended.
    pub end: End,
    /// The start of its standard output.
    pub output: Vec<u8>,
    /// The start of its standard error.
    pub errors: Vec<u8>,
    /// Bytes that it printed on both.
    pub printed: u64,
    /// What it used; unknown if it had to be ended.
    pub cost: Option<Cost>,
}
