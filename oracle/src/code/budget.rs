//! The budget: how many blocks may be executed for a file, so that time is linear in its size.

use std::sync::atomic::{AtomicU64, Ordering};

/// The maximum size in bytes of a function that is examined.
pub const LARGEST_FUNCTION: u64 = 1 << 20;

/// The maximum number of blocks that are executed for each byte of a file's code. Compilers' code needs less than one for two
/// bytes, if each function is examined once.
const BLOCKS_PER_BYTE: u64 = 8;

/// The number of blocks that may still be executed. Files made to take long would need many times more than others.
#[derive(Debug)]
pub(crate) struct Budget(AtomicU64);

impl Budget {
    /// For code of a number of bytes.
    pub(crate) const fn of(bytes: u64) -> Budget {
        Budget(AtomicU64::new(
            bytes.saturating_mul(BLOCKS_PER_BYTE).saturating_add(LARGEST_FUNCTION),
        ))
    }

    pub(super) fn left(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns false if less is left.
    pub(super) fn spend(&self, blocks: u64) -> bool {
        let spend = |left: u64| left.checked_sub(blocks);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend).is_ok()
    }
}
