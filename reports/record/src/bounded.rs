//! Sorted lists of limited length.

/// The maximum number of entries of a list; no scan of ours has that many. A report from elsewhere may contain a
/// different rule or kind in each line: further entries count in the totals but are not listed.
pub(crate) const MOST: usize = 1_000;

/// The entry of a sorted list that a search has found, or a new one inserted at its position; `None` if the list is
/// full.
pub(crate) fn entry<T>(
    list: &mut Vec<T>,
    found: Result<usize, usize>,
    new: impl FnOnce() -> T,
) -> Option<&mut T> {
    entry_within(MOST, list, found, new)
}

/// The entry of a sorted list of at most `most` entries, as [`entry`] finds or inserts it.
pub(crate) fn entry_within<T>(
    most: usize,
    list: &mut Vec<T>,
    found: Result<usize, usize>,
    new: impl FnOnce() -> T,
) -> Option<&mut T> {
    let place = match found {
        Ok(place) => place,
        Err(place) if list.len() < most => {
            list.insert(place, new());
            place
        }
        Err(_) => return None,
    };
    list.get_mut(place)
}
