//! A place in a list of functions that is ordered by address.

use sframe_validator::unwind::CodeAddress;

/// Finds the function that an unwinder would use at a place, for ascending places.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cursor {
    /// The number of the next function.
    next: usize,
    /// The section of the current function.
    section: u32,
    /// The end of the current function, or the start of the next one if that comes first; 0 if there is no current
    /// function.
    limit: u64,
}

impl Cursor {
    /// The place where the current function ends or the next one starts, if `place` is before it.
    #[inline(always)]
    pub(super) fn limit_at(&self, place: CodeAddress) -> Option<u64> {
        (place.section == self.section && place.address < self.limit).then_some(self.limit)
    }

    /// Whether the code of the current function ends exactly at `end`.
    #[inline]
    pub(super) const fn ends_at(&self, end: u64) -> bool {
        self.limit == end
    }

    /// Leaves the current function.
    #[inline]
    pub(super) const fn leave(&mut self) {
        self.limit = 0;
    }

    /// Moves to the function that contains `place`, and returns its number. If there is none, returns as an error the
    /// address up to which there is none. `nth` returns the start and size of each function in the list.
    #[inline]
    pub(super) fn enter(
        &mut self,
        place: CodeAddress,
        nth: impl Fn(usize) -> Option<(CodeAddress, u64)>,
    ) -> Result<usize, u64> {
        loop {
            let Some((start, size)) = nth(self.next) else { return Err(u64::MAX) };
            if start > place {
                let here = start.section == place.section;
                return Err(if here { start.address } else { u64::MAX });
            }
            let number = self.next;
            self.next += 1;
            let end = start.address.saturating_add(size);
            if start.section < place.section || end <= place.address {
                continue;
            }
            // If functions overlap, the one that starts last is found; one without bytes hides no other.
            let following = loop {
                match nth(self.next) {
                    Some((_, 0)) => self.next += 1,
                    next => break next.map(|(start, _)| start),
                }
            };
            let cut = following.filter(|next| next.section == start.section);
            let limit = cut.map_or(end, |next| end.min(next.address));
            if place.address < limit {
                (self.section, self.limit) = (start.section, limit);
                return Ok(number);
            }
        }
    }

    /// The end of the current function.
    #[inline]
    pub(super) const fn limit(&self) -> u64 {
        self.limit
    }
}
