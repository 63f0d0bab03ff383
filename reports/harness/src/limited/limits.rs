//! The limits of a program.

use serde::{Deserialize, Serialize};

/// The limits that the caller chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Processor time in seconds; the limit of elapsed time is [`PATIENCE`] times as long.
    pub seconds: u64,
    /// Address space in MiB; 0 means no limit, which sanitizers need.
    pub memory_mib: u64,
}

/// The ratio of the limit of elapsed time to that of processor time: other processes may be running.
pub const PATIENCE: u64 = 3;

/// Bytes of a MiB.
pub(super) const MIB: u64 = 1 << 20;

/// The maximum output in MiB, on standard output and standard error together.
pub const OUTPUT_MIB: u64 = 1 << 10;

/// The maximum size on disk in MiB of the files in its folder.
pub const FILES_MIB: u64 = 256;

/// The maximum number of MiB written in addition to its output: to files anywhere, even if removed later, and to its
/// own pipes.
pub const WRITTEN_MIB: u64 = 1 << 10;

/// The maximum size of a single file in MiB.
pub const FILE_MIB: u64 = 64;
