//! Sets of addresses that are searched for nearly every instruction.

/// A set of addresses, in order. They are divided into pages, about as many as there are addresses, so that a look-up
/// compares only a few.
#[derive(Debug, Default, PartialEq)]
pub(super) struct AddressSet {
    addresses: Vec<u64>,
    /// The size of a page is `1 << shift` bytes; the first one starts at the first address.
    shift: u32,
    /// For each page, the number of addresses before it; at the end, the number of all addresses.
    before: Vec<usize>,
}

impl AddressSet {
    /// A set of addresses, which are in any order.
    pub(super) fn of(mut addresses: Vec<u64>) -> AddressSet {
        addresses.sort_unstable();
        addresses.dedup();
        let (Some(first), Some(last)) = (addresses.first().copied(), addresses.last()) else {
            return AddressSet::default();
        };
        let bits = |number: u64| u64::BITS - number.leading_zeros();
        let shift = bits(last - first).saturating_sub(bits(addresses.len() as u64));
        let mut before = Vec::new();
        for (number, address) in addresses.iter().enumerate() {
            let page = usize::try_from((address - first) >> shift).unwrap_or_default();
            before.resize(before.len().max(page.saturating_add(1)), number);
        }
        before.push(addresses.len());
        AddressSet { addresses, shift, before }
    }

    /// The number of addresses that are not after this one.
    #[inline]
    pub(super) fn up_to(&self, address: u64) -> usize {
        let first = self.addresses.first().copied().unwrap_or(u64::MAX);
        let Some(distance) = address.checked_sub(first) else { return 0 };
        let page = usize::try_from(distance >> self.shift).unwrap_or(usize::MAX);
        let (from, to) = (self.before.get(page), self.before.get(page.saturating_add(1)));
        let (Some(from), Some(to)) = (from, to) else { return self.addresses.len() };
        let near = self.addresses.get(*from..*to).unwrap_or_default();
        from + near.partition_point(|place| *place <= address)
    }

    /// Whether an address is one of them.
    #[inline]
    pub(super) fn contains(&self, address: u64) -> bool {
        let last = self.up_to(address).checked_sub(1);
        last.and_then(|last| self.addresses.get(last)) == Some(&address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Addresses that are dense, sparse, few, at both ends of the address space, and in clusters.
    #[test]
    fn look_ups_find_what_a_search_finds() {
        let clusters = (0..50).flat_map(|n| (0..n).map(move |at| (n << 40) + 3 * at));
        for addresses in [
            Vec::new(),
            vec![0],
            vec![u64::MAX],
            vec![0, u64::MAX],
            vec![7, 7, 5],
            (0..1000).collect(),
            (0..1000).map(|n| n * n * n).collect(),
            clusters.collect::<Vec<u64>>(),
        ] {
            let places = AddressSet::of(addresses.clone());
            let ends = [0, 1, u64::MAX - 1, u64::MAX];
            let near =
                addresses.iter().flat_map(|at| [at.wrapping_sub(1), *at, at.wrapping_add(1)]);
            for address in near.chain(ends) {
                let mut up_to: Vec<_> = addresses.iter().filter(|at| **at <= address).collect();
                up_to.sort_unstable();
                up_to.dedup();
                assert_eq!(places.up_to(address), up_to.len(), "{address:#x} in {places:?}");
                assert_eq!(places.contains(address), addresses.contains(&address));
            }
            assert!(places.before.len() <= 2 * addresses.len() + 2, "{places:?}");
        }
    }
}
