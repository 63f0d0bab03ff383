//! Sorted lists of limited length.

/// The most entries of a list: more than any scan makes. A report by somebody else may have a rule or
/// kind of its own in each line; what comes after so many is in the sums, and not listed.
pub(crate) const MOST: usize = 1_000;

/// The entry of a sorted list that a search has found, or a new one at its place; `None` where the
/// list has as many entries as it may have.
pub(crate) fn entry<T>(
    list: &mut Vec<T>,
    found: Result<usize, usize>,
    new: impl FnOnce() -> T,
) -> Option<&mut T> {
    let place = match found {
        Ok(place) => place,
        Err(place) if list.len() < MOST => {
            list.insert(place, new());
            place
        }
        Err(_) => return None,
    };
    list.get_mut(place)
}
