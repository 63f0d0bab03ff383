//! Remembers the shapes of functions that broke no rule.

use alloc::vec::Vec;

/// The keys of shapes that broke no rule. An entry may be overwritten by another. Its shape is then checked again, but
/// a shape that was never found sound is never skipped.
pub(super) struct SoundFunctions {
    known: Vec<u64>,
}

impl SoundFunctions {
    /// A power of two. Real sections have about ten different shapes.
    const SLOTS: usize = 64;
    /// No shape has this key, because keys have fewer than 64 bits.
    const NONE: u64 = u64::MAX;

    pub(super) fn new() -> SoundFunctions {
        SoundFunctions { known: alloc::vec![SoundFunctions::NONE; SoundFunctions::SLOTS] }
    }

    #[inline]
    fn slot(key: u64) -> usize {
        usize::try_from(key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58).unwrap_or(0)
    }

    #[inline]
    pub(super) fn contains(&self, key: u64) -> bool {
        self.known.get(SoundFunctions::slot(key)) == Some(&key)
    }

    pub(super) fn insert(&mut self, key: u64) {
        if let Some(slot) = self.known.get_mut(SoundFunctions::slot(key)) {
            *slot = key;
        }
    }
}
