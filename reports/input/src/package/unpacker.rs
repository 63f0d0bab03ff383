//! What packages are read with: limits, and memory that one package leaves to the next.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use super::Limits;

/// How many bytes of a buffer are kept for the next package.
const KEPT: usize = 1 << 24;
/// The maximum number of buffers that are kept: one for each thread of a large machine. Each was made for a package that was
/// read while others were.
const MOST: usize = 256;

/// Reads packages within limits. The threads of a scan share one.
pub struct Unpacker {
    limits: Limits,
    /// Buffers for members, reused because making a large one takes longer than checking most files.
    buffers: Mutex<Vec<Vec<u8>>>,
}

impl Unpacker {
    /// An unpacker that has not read anything.
    #[must_use]
    pub const fn new(limits: Limits) -> Unpacker {
        Unpacker { limits, buffers: Mutex::new(Vec::new()) }
    }

    /// The limits for each input.
    #[must_use]
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// A buffer whose content does not matter.
    pub(super) fn buffer(&self) -> Vec<u8> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Takes back a buffer, unless it is large, or there are many.
    pub(super) fn keep(&self, buffer: Vec<u8>) {
        let mut buffers = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        if buffer.len() <= KEPT && buffers.len() < MOST {
            buffers.push(buffer);
        }
    }
}

impl fmt::Debug for Unpacker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unpacker").field("limits", &self.limits).finish_non_exhaustive()
    }
}
