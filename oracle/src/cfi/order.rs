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
        (near && distance < 1 << (u64::BITS - INDEX_BITS)).then_some(distance << INDEX_BITS | index)
    };
    let mut places: Vec<u64> = fdes.iter().zip(0..).map(place).collect::<Option<_>>()?;
    places.sort_unstable();
    let apart = |a: &u64, b: &u64| a >> INDEX_BITS != b >> INDEX_BITS;
    let index = |place: &u64| u32::try_from(place & ((1 << INDEX_BITS) - 1)).ok();
    places.is_sorted_by(apart).then(|| places.iter().filter_map(index).collect())
}
