//! The addresses at which an answer may change, the specification's or a consumer's.

use crate::consumer::Places;
use crate::rows::{SPENT, Work};

/// The code is too large for a consumer that keeps 32 bits of addresses.
const FAR: &str = "the code spans 4 GiB too often to compare all of it";

/// Consumers that keep 32 bits of an address answer the same after so many bytes.
const SPAN: u64 = 1 << 32;

/// PCs for which answers are the same, or repeat with one period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) start: u64,
    pub(super) length: u64,
}

/// Segments in ascending order. They do not overlap.
#[derive(Debug)]
pub(super) struct Segments {
    /// Where one ends and the next one begins, in ascending order.
    places: Vec<u64>,
    /// Why some are left out.
    pub(super) limit: Option<&'static str>,
}

impl Segments {
    pub(super) fn iter(&self) -> impl Iterator<Item = Segment> {
        let segment = |(start, end): (&u64, &u64)| Segment { start: *start, length: end - start };
        self.places.iter().zip(self.places.iter().skip(1)).map(segment)
    }
}

/// Cuts the addresses from the first place up to an end, or up to the last place, at all places.
pub(super) fn segments(found: Places, own: &[u64], end: Option<u64>, work: Work) -> Segments {
    let Places { mut list, others, wraps, is_complete } = found;
    let mut limit = (!is_complete).then_some(SPENT.reason);
    list.extend(own);
    // Functions before the specification's first one count, too, but not those that are 4 GiB away.
    let near = own.iter().min().map_or(0, |first| first.saturating_sub(SPAN));
    let is_near = |place: &u64| *place >= near && end.is_none_or(|end| *place <= end);
    let first = list.iter().copied().filter(is_near).min();
    list.extend(others);
    let is_kept = |place: &u64| first <= Some(*place) && end.is_none_or(|end| *place <= end);
    list.retain(|place| wraps || is_kept(place));
    if let Some(first) = first
        && wraps
    {
        let end = end.or_else(|| list.iter().max().copied()).unwrap_or(first);
        list = repeated(&list, first, end, &work).unwrap_or_else(|| {
            limit = Some(FAR);
            own.to_vec()
        });
    }
    // Nearly all is in order, which a stable sort makes use of.
    list.sort();
    list.dedup();
    Segments { places: list, limit }
}

/// Every address from `first` to `end` of which the lowest 32 bits are those of a place.
fn repeated(list: &[u64], first: u64, end: u64, work: &Work) -> Option<Vec<u64>> {
    let mut found = Vec::with_capacity(list.len());
    for place in list {
        let nearest = first.checked_add(place.wrapping_sub(first) % SPAN)?;
        let mut next = Some(nearest);
        while let Some(place) = next.filter(|place| *place <= end) {
            if place != nearest && !work.take() {
                return None;
            }
            found.push(place);
            next = place.checked_add(SPAN);
        }
    }
    found.push(end);
    Some(found)
}
