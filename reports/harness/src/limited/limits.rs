//! What a program may use.

use serde::{Deserialize, Serialize};

/// The limits that the caller chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Processor time in seconds; the limit by the clock is [`PATIENCE`] times as long.
    pub seconds: u64,
    /// Address space in MiB; 0 for no limit, as sanitizers need it.
    pub memory_mib: u64,
}

/// How much longer a program may take by the clock than in processor time: other processes may be at work.
pub const PATIENCE: u64 = 3;

/// Bytes of a MiB.
pub(super) const MIB: u64 = 1 << 20;

/// MiB that a program may print, on standard output and standard error together.
pub const OUTPUT_MIB: u64 = 1 << 10;

/// MiB that a program may have on disk in its folder.
pub const FILES_MIB: u64 = 256;

/// MiB that a program may write besides its output, anywhere: to files, whether it removes them or not, and to its own
/// pipes.
pub const WRITTEN_MIB: u64 = 1 << 10;

/// MiB of the largest file that a program may write.
pub const FILE_MIB: u64 = 64;
