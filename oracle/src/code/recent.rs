//! Places that were seen a short time ago.

use sframe_validator::unwind::CodeAddress;

/// The number of places that are remembered. The low bits of an address decide which one it replaces.
const SIZE: usize = 1 << 10;

/// Some of the places that were seen last. Most places that code leads to are those of a few functions and variables: without
/// most of the repetitions, few are left to be sorted.
pub(super) struct Recent(Box<[Option<CodeAddress>; SIZE]>);

impl Recent {
    pub(super) fn none() -> Recent {
        Recent(Box::new([None; SIZE]))
    }

    /// Notes a place. Returns false if it is known to have been seen before.
    #[inline]
    pub(super) fn is_new(&mut self, place: CodeAddress) -> bool {
        // Functions are aligned.
        let key = place.address ^ place.address >> 10;
        let index = usize::try_from(key % SIZE as u64).unwrap_or_default();
        let known = self.0.get_mut(index);
        known.is_none_or(|known| known.replace(place) != Some(place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every place is new the first time. Places of different sections and those that replace each other are different.
    #[test]
    fn only_repetitions_are_not_new() {
        let mut recent = Recent::none();
        let at = |section, address| CodeAddress { section, address };
        assert!(recent.is_new(at(0, 0)));
        assert!(!recent.is_new(at(0, 0)));
        assert!(recent.is_new(at(1, 0)));
        for address in 1..100_000 {
            assert!(recent.is_new(at(0, address)), "{address:#x}");
            assert!(!recent.is_new(at(0, address)), "{address:#x}");
        }
        assert!(recent.is_new(at(0, u64::MAX)));
    }
}
