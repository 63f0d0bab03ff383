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

#[cfg(test)]
mod tests {
    use super::SoundFunctions;

    /// Keys like those of a real section's shapes, which differ in a few bits.
    const KEYS: [u64; 10] = [
        0x1_0000_2000_c00d,
        0x1_0000_2000_c00f,
        0x1_0000_2000_e00d,
        0x1_0100_2000_c00d,
        0x1_1010_2000_c00d,
        0x1_8000_2000_c00d,
        0x1_2000_2000_c00d,
        0x1_0001_2000_c00d,
        0,
        u64::MAX >> 1,
    ];

    #[test]
    fn only_what_was_inserted_is_contained() {
        for inserted in KEYS {
            let mut sound = SoundFunctions::new();
            assert!(!sound.contains(inserted));
            sound.insert(inserted);
            for key in KEYS {
                assert_eq!(sound.contains(key), key == inserted, "{key:#x}");
            }
        }
    }

    /// Otherwise, the check would be slower than it has to be.
    #[test]
    fn the_shapes_of_a_section_are_remembered_together() {
        let mut sound = SoundFunctions::new();
        KEYS.iter().for_each(|key| sound.insert(*key));
        let kept = KEYS.iter().filter(|key| sound.contains(**key)).count();
        assert!(kept >= 8, "{kept}");
    }
}
