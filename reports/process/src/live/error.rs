//! Why processes cannot be stopped.

use core::fmt;
use std::io;

use nix::errno::Errno;
use sframe_input::plain_error;
use sframe_validator::Abi;

use crate::error::FileDefect;

/// Why a process cannot be stopped or read.
#[derive(Debug)]
#[non_exhaustive]
pub enum StopError {
    /// The registers of processes cannot be read on this machine.
    UnsupportedHost,
    /// There is no such process.
    NoProcess,
    /// It has ended meanwhile.
    Ended,
    /// A thread cannot be stopped.
    Thread(ThreadRefusal),
    /// The file of its program cannot be read.
    Program(FileDefect),
    /// Its program is not for this machine.
    NotFor(Abi),
    /// The system refuses something else.
    Io(io::Error),
}

impl fmt::Display for StopError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StopError::UnsupportedHost => {
                f.write_str("processes of this machine are not supported")
            }
            StopError::NoProcess => f.write_str("there is no such process"),
            StopError::Ended => f.write_str("the process has ended"),
            StopError::Thread(refusal) => refusal.fmt(f),
            StopError::Program(defect) => write!(f, "its program cannot be read: {defect}"),
            StopError::NotFor(host) => write!(f, "it is not a program for {host}"),
            StopError::Io(error) => f.write_str(&plain_error(error)),
        }
    }
}

impl std::error::Error for StopError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            StopError::Thread(refusal) => Some(refusal),
            StopError::Program(defect) => Some(defect),
            StopError::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for StopError {
    fn from(error: io::Error) -> StopError {
        StopError::Io(error)
    }
}

/// Why a thread cannot be stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadRefusal {
    /// This process, such as a debugger, traces it already.
    Traced(u32),
    /// This user has no permission.
    NotPermitted,
    /// The system refuses it for another reason.
    System(Errno),
}

impl fmt::Display for ThreadRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ThreadRefusal::Traced(tracer) => write!(f, "process {tracer} traces it already"),
            ThreadRefusal::NotPermitted => f.write_str("this user may not stop it with ptrace"),
            ThreadRefusal::System(reason) => f.write_str(&plain_error(&(*reason).into())),
        }
    }
}

impl std::error::Error for ThreadRefusal {}
