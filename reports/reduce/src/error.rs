//! Why findings cannot be reduced.

use std::fmt;
use std::io;

use sframe_harness::limited::NotRun;
use sframe_harness::reassemble::ReassembleError;

/// Why a finding is not reduced.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReduceError {
    /// The functions of the file cannot be read.
    Read(ReadError),
    /// A program cannot be used.
    Program(ProgramError),
    /// A program refuses the inputs that it took before: how it ended, and its first message.
    Refused(String),
    /// The finding is not shown again by inputs that have shown it before.
    Unsteady,
}

impl fmt::Display for ReduceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReduceError::Read(error) => error.fmt(f),
            ReduceError::Program(error) => error.fmt(f),
            ReduceError::Refused(message) => f.write_str(message),
            ReduceError::Unsteady => f.write_str("the same inputs do not show it each time"),
        }
    }
}

impl std::error::Error for ReduceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ReduceError::Read(error) => Some(error),
            ReduceError::Program(error) => Some(error),
            ReduceError::Refused(_) | ReduceError::Unsteady => None,
        }
    }
}

impl From<ReadError> for ReduceError {
    fn from(error: ReadError) -> ReduceError {
        ReduceError::Read(error)
    }
}

impl From<ProgramError> for ReduceError {
    fn from(error: ProgramError) -> ReduceError {
        ReduceError::Program(error)
    }
}

/// Why functions of a file are not read.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// SFrame is not defined for the file's machine.
    Machine,
    /// The file cannot be written as assembly.
    Reassemble(ReassembleError),
    /// The functions have too many parts or bytes together.
    TooLarge,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Machine => f.write_str("SFrame is not defined for its machine"),
            ReadError::Reassemble(error) => error.fmt(f),
            ReadError::TooLarge => {
                f.write_str("its functions are too large to be reduced together")
            }
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ReadError::Reassemble(error) => Some(error),
            ReadError::Machine | ReadError::TooLarge => None,
        }
    }
}

impl From<ReassembleError> for ReadError {
    fn from(error: ReassembleError) -> ReadError {
        ReadError::Reassemble(error)
    }
}

/// Why an assembler, a linker or another program of theirs cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum ProgramError {
    /// The text cannot be split into words.
    NotACommand,
    /// There is no file at its path.
    NoFile,
    /// No folder of the path has it.
    NotOnPath,
    /// It is not an assembler that is known here.
    UnknownAssembler,
    /// It is not a linker that is known here, nor a driver that runs one.
    UnknownLinker,
    /// No assembler was named or found.
    NoAssembler,
    /// No linker was named.
    NoLinker,
    /// Its folder or its input cannot be written.
    Io(io::Error),
    /// It cannot be run.
    NotRun(NotRun),
    /// Its output cannot be read.
    Output(io::Error),
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProgramError::NotACommand => f.write_str("it is not a command"),
            ProgramError::NoFile => f.write_str("there is no such file"),
            ProgramError::NotOnPath => f.write_str("it is not on the path"),
            ProgramError::UnknownAssembler => f.write_str("it is neither GNU as nor llvm-mc"),
            ProgramError::UnknownLinker => {
                f.write_str("it is no linker that is known here, nor a driver that runs one")
            }
            ProgramError::NoAssembler => f.write_str("there is no assembler"),
            ProgramError::NoLinker => f.write_str("there is no linker"),
            ProgramError::Io(error) => error.fmt(f),
            ProgramError::NotRun(error) => error.fmt(f),
            ProgramError::Output(error) => write!(f, "its output cannot be read: {error}"),
        }
    }
}

impl std::error::Error for ProgramError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ProgramError::Io(error) | ProgramError::Output(error) => Some(error),
            ProgramError::NotRun(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for ProgramError {
    fn from(error: io::Error) -> ProgramError {
        ProgramError::Io(error)
    }
}

impl From<NotRun> for ProgramError {
    fn from(error: NotRun) -> ProgramError {
        ProgramError::NotRun(error)
    }
}
