//! The functions of a section by address.

use super::entry::FdeRecord;
use super::error::{CfiError, CfiErrorKind};

/// The order of a section's functions by section, address and size.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    /// Indices into the section's table; empty if the table is ordered by address already.
    indices: Vec<u32>,
}

impl Order {
    /// Orders functions by address. Also returns the defects: functions that are empty or overlap.
    pub(super) fn of(fdes: &[FdeRecord]) -> (Order, Vec<CfiError>) {
        let mut order = Order::default();
        if !fdes.is_sorted_by_key(|fde| (fde.start, fde.size)) {
            order.indices = by_distance(fdes).unwrap_or_else(|| by_address(fdes));
        }
        let defects = order.defects(fdes);
        (order, defects)
    }

    /// The function at index `place` in the order of addresses.
    #[inline]
    pub(super) fn nth<'f>(&self, fdes: &'f [FdeRecord], place: usize) -> Option<&'f FdeRecord> {
        match self.indices.get(place) {
            Some(index) => fdes.get(usize::try_from(*index).ok()?),
            None => fdes.get(place),
        }
    }

    /// The functions that are empty, and those that overlap an earlier one.
    fn defects(&self, fdes: &[FdeRecord]) -> Vec<CfiError> {
        let mut defects = Vec::new();
        // The function that ends last so far.
        let mut reaching: Option<&FdeRecord> = None;
        for record in (0..fdes.len()).filter_map(|place| self.nth(fdes, place)) {
            if record.size == 0 {
                defects.push(CfiErrorKind::EmptyRange.at(record.offset.into()));
                continue;
            }
            let end = |fde: &FdeRecord| fde.start.address.saturating_add(fde.size);
            match reaching.filter(|last| last.start.section == record.start.section) {
                Some(last) if end(last) > record.start.address => {
                    let kind = CfiErrorKind::Overlap(last.offset.into());
                    defects.push(kind.at(record.offset.into()));
                    if end(record) > end(last) {
                        reaching = Some(record);
                    }
                }
                _ => reaching = Some(record),
            }
        }
        defects
    }
}

/// Indices into the functions by section, address and size.
fn by_address(fdes: &[FdeRecord]) -> Vec<u32> {
    let mut functions: Vec<_> = fdes.iter().zip(0..).collect();
    functions.sort_by_key(|(fde, _)| (fde.start, fde.size));
    functions.into_iter().map(|(_, index)| index).collect()
}

/// Like [`by_address`], but sorts numbers that combine the distance from the first function with the index, which takes
/// less than half the time. `None` if they do not fit in one number, or two functions have the same start.
fn by_distance(fdes: &[FdeRecord]) -> Option<Vec<u32>> {
    const INDEX_BITS: u32 = 24;
    let first = fdes.iter().map(|fde| fde.start).min()?;
    let fits = fdes.len() <= 1 << INDEX_BITS;
    let place = |(fde, index): (&FdeRecord, u64)| {
        let distance = fde.start.address.checked_sub(first.address)?;
        let near = fits && fde.start.section == first.section;
        (near && distance.leading_zeros() >= INDEX_BITS).then_some(distance << INDEX_BITS | index)
    };
    let mut places: Vec<u64> = fdes.iter().zip(0..).map(place).collect::<Option<_>>()?;
    places.sort_unstable();
    let apart = |a: &u64, b: &u64| a >> INDEX_BITS != b >> INDEX_BITS;
    let index = |place: &u64| u32::try_from(place & ((1 << INDEX_BITS) - 1)).ok();
    places.is_sorted_by(apart).then(|| places.iter().filter_map(index).collect())
}

#[cfg(test)]
mod tests {
    use sframe_validator::unwind::CodeAddress;

    use super::*;

    /// Functions with these sections, starts and sizes, at offsets 0, 0x10, and so on.
    fn functions(ranges: &[(u32, u64, u64)]) -> Vec<FdeRecord> {
        let record = |((section, address, size), offset): (&(u32, u64, u64), u32)| {
            let start = CodeAddress { section: *section, address: *address };
            FdeRecord { start, size: *size, offset: offset * 0x10, cie: 0, instructions: (0, 0) }
        };
        ranges.iter().zip(0..).map(record).collect()
    }

    #[test]
    fn functions_of_one_section_are_sorted_by_their_distance() {
        let far = 1 << 40;
        let near = functions(&[(1, 0x40, 8), (1, 0x10, 8), (1, 0x10 + far - 1, 8), (1, 0x20, 8)]);
        assert_eq!(by_distance(&near), Some(vec![1, 3, 0, 2]));
        assert_eq!(by_address(&near), [1, 3, 0, 2]);
        assert_eq!(by_distance(&[]), None);
    }

    #[test]
    fn functions_without_a_distance_of_their_own_are_sorted_by_address() {
        let far = functions(&[(1, 0x10 + (1 << 40), 8), (1, 0x10, 8)]);
        assert_eq!((by_distance(&far), by_address(&far)), (None, vec![1, 0]));
        let sections = functions(&[(2, 0x20, 8), (1, 0x10, 8)]);
        assert_eq!((by_distance(&sections), by_address(&sections)), (None, vec![1, 0]));
        let same = functions(&[(1, 0x20, 8), (1, 0x10, 9), (1, 0x10, 8)]);
        assert_eq!((by_distance(&same), by_address(&same)), (None, vec![2, 1, 0]));
    }

    /// Each function that overlaps an earlier one is reported with the earlier one that ends last.
    #[test]
    fn overlaps_name_the_function_that_reaches_furthest() {
        let defects = |ranges: &[(u32, u64, u64)]| {
            let (_, defects) = Order::of(&functions(ranges));
            defects.into_iter().map(|error| (error.offset, error.kind)).collect::<Vec<_>>()
        };
        let overlap = |this, other| (this, CfiErrorKind::Overlap(other));
        let nested = [(1, 0, 0x40), (1, 0x10, 0x10), (1, 0x30, 0x20), (1, 0x48, 8), (1, 0x50, 8)];
        assert_eq!(defects(&nested), [overlap(0x10, 0), overlap(0x20, 0), overlap(0x30, 0x20)]);
        // Adjacent, in another section, or without bytes.
        assert_eq!(defects(&[(1, 0, 0x10), (1, 0x10, 0x10), (2, 0, 0x10)]), []);
        let empty = (0x10, CfiErrorKind::EmptyRange);
        assert_eq!(defects(&[(1, 0, 0x10), (1, 8, 0), (1, 0x10, 8)]), [empty]);
    }
}
