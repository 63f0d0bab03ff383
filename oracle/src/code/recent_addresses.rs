//! A small cache of the addresses that were seen last.

use sframe_validator::unwind::CodeAddress;

/// The number of addresses in the cache. The low bits of an address decide which one it replaces.
const SIZE: usize = 1 << 10;

/// Some of the addresses that were seen last. Most references are to a few functions and variables: without most of the
/// repetitions, few are left to be sorted.
pub(super) struct RecentAddresses(Box<[Option<CodeAddress>; SIZE]>);

impl RecentAddresses {
    pub(super) fn none() -> RecentAddresses {
        RecentAddresses(Box::new([None; SIZE]))
    }

    /// Adds an address. Returns false if it is known to have been seen before.
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

    /// Every address is new the first time. Addresses of different sections and those that replace each other are different.
    #[test]
    fn only_repetitions_are_not_new() {
        let mut recent = RecentAddresses::none();
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
