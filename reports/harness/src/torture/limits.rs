//! What a reader may take for one case.

/// The limits that can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Processor time in seconds; by the clock it is [`PATIENCE`] times as much.
    pub seconds: u64,
    /// Address space in MiB; 0 for no limit, as sanitizers need it.
    pub memory_mib: u64,
}

/// How much longer a reader may take by the clock than in processor time: other processes may be at work.
pub const PATIENCE: u64 = 3;

/// Bytes of a MiB.
pub(super) const MIB: u64 = 1 << 20;

/// MiB that a reader may print, on standard output and standard error together.
pub const OUTPUT_MIB: u64 = 1 << 10;

/// MiB that a reader may have on disk in its folder.
pub const FILES_MIB: u64 = 256;

/// MiB that a reader may write besides, anywhere: to files, whether it removes them or not, and to pipes of its own.
pub const WRITTEN_MIB: u64 = 1 << 10;

/// MiB of the largest file that a reader may write.
pub const FILE_MIB: u64 = 64;
