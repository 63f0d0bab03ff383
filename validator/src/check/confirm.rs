//! Unwind information besides the section.

use crate::section::CodeAddress;
use crate::unwind::Frame;

/// Another source of unwind information that can confirm what a row says.
pub trait Confirm {
    /// Whether that source says, at every PC of `[start, end)`, exactly what `frame` says.
    fn confirms(&self, start: CodeAddress, end: u64, frame: &Frame) -> bool;
}
