//! Why a walk ends.

use core::fmt;

use sframe_validator::Abi;
use sframe_validator::unwind::{ApplyError, Named};

use crate::statement::Silence;

/// Why a walk ends at a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The row marks the outermost frame.
    Outermost,
    /// The return address is 0.
    ReturnsToZero,
    /// FP is 0, which ends the walk according to its rules.
    FpZero,
    /// There is no row.
    NoRow(Silence),
    /// The row cannot be applied.
    CannotApply(ApplyError),
    /// The SP of the frame is unknown.
    NoSp,
    /// The caller's SP is not above that of the frame.
    StackDoesNotGrow {
        /// SP in the frame.
        sp: u64,
        /// SP in its caller.
        caller: u64,
    },
    /// The caller's SP is not aligned as the rules require.
    Misaligned {
        /// SP in the caller.
        caller: u64,
        /// The required alignment in bytes.
        alignment: u64,
    },
    /// There are more frames than the rules allow.
    TooManyFrames(usize),
}

impl End {
    /// Whether this frame is the last one of its stack.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        matches!(self, End::Outermost | End::ReturnsToZero | End::FpZero)
    }

    /// Whether nothing is known about the caller, so that another witness's caller does not contradict.
    #[must_use]
    pub const fn is_gap(&self) -> bool {
        matches!(self, End::NoRow(_) | End::CannotApply(_) | End::NoSp)
    }

    /// Whether something could not be read or computed. Otherwise, it is certain that there is no row or no caller.
    #[must_use]
    pub const fn is_undecided(&self) -> bool {
        match self {
            End::Outermost | End::ReturnsToZero | End::FpZero => false,
            End::NoRow(silence) => silence.is_undecided(),
            End::CannotApply(_)
            | End::NoSp
            | End::StackDoesNotGrow { .. }
            | End::Misaligned { .. }
            | End::TooManyFrames(_) => true,
        }
    }

    /// The reason for people, with the machine's names of registers.
    #[must_use]
    pub fn reason(&self, abi: Abi) -> String {
        match self {
            End::CannotApply(ApplyError::Register(register)) if *register == abi.ra() => {
                "RA is not saved, and its value is unknown in this frame".to_owned()
            }
            End::CannotApply(ApplyError::Register(register)) => {
                format!("the value of {} is unknown in this frame", Named(abi, *register))
            }
            other => other.to_string(),
        }
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            End::Outermost => f.write_str("RA is undefined: the outermost frame"),
            End::ReturnsToZero => f.write_str("RA is 0: the outermost frame"),
            End::FpZero => f.write_str("FP is 0: the outermost frame"),
            End::NoRow(silence) => silence.fmt(f),
            End::CannotApply(error) => error.fmt(f),
            End::NoSp => f.write_str("SP is unknown"),
            End::StackDoesNotGrow { sp, caller } => {
                write!(f, "SP of the caller, {caller:#x}, is not above SP, {sp:#x}")
            }
            End::Misaligned { caller, alignment } => {
                write!(f, "SP of the caller, {caller:#x}, is not aligned to {alignment} bytes")
            }
            End::TooManyFrames(most) => {
                write!(f, "the walk is limited to {most} frames (--max-frames)")
            }
        }
    }
}
