//! A place in a list of functions that is ordered by address.

use sframe_validator::unwind::CodeAddress;

/// Finds the function that an unwinder would use at a place, for ascending places.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cursor {
    /// The number of the next function.
    next: usize,
    /// The section of the current function.
    section: u32,
    /// The end of the current function, or the start of the next one if that comes first. It stays when the function has
    /// been left: no later place is before it.
    limit: u64,
}

impl Cursor {
    /// Passes over the first functions.
    pub(super) const fn pass(&mut self, functions: usize) {
        self.next = functions;
    }

    /// The place where the current function ends or the next one starts, if `place` is before it.
    #[inline(always)]
    pub(crate) fn limit_at(&self, place: CodeAddress) -> Option<u64> {
        (place.section == self.section && place.address < self.limit).then_some(self.limit)
    }

    /// Whether the code of the current function ends exactly at `end`.
    #[inline]
    pub(super) const fn ends_at(&self, end: u64) -> bool {
        self.limit == end
    }

    /// Moves to the function that contains `place`, and returns its number. If there is none, returns as an error the
    /// address up to which there is none. `nth` returns the start and size of each function in the list.
    #[inline]
    pub(crate) fn enter(
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
    pub(crate) const fn limit(&self) -> u64 {
        self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Visits places in order, as the sweep does: each function as its number and its limit, or where the code without a
    /// function ends. The functions are sections, starts and sizes.
    fn visit(
        functions: &[(u32, u64, u64)],
        places: &[(u32, u64)],
    ) -> Vec<Result<(usize, u64), u64>> {
        let mut cursor = Cursor::default();
        let mut current = None;
        let visit = |&(section, address): &(u32, u64)| {
            let place = CodeAddress { section, address };
            if cursor.limit_at(place).is_none() {
                current = Some(cursor.enter(place, |number| {
                    let (section, address, size) = *functions.get(number)?;
                    Some((CodeAddress { section, address }, size))
                }));
            }
            let found = current.unwrap_or(Err(0));
            found.map(|number| {
                assert!(cursor.ends_at(cursor.limit()) && !cursor.ends_at(cursor.limit() + 1));
                (number, cursor.limit())
            })
        };
        places.iter().map(visit).collect()
    }

    const NOTHING: Result<(usize, u64), u64> = Err(u64::MAX);

    /// Written by hand: the last function that starts at or before the place is found, if it reaches that far.
    #[test]
    fn the_function_that_starts_last_is_found_up_to_its_end() {
        let apart = [(0, 0x10, 0x10), (0, 0x20, 8), (0, 0x30, 8)];
        let places = [(0, 0), (0, 0x10), (0, 0x1f), (0, 0x20), (0, 0x28), (0, 0x30), (0, 0x38)];
        let first = Ok((0, 0x20));
        let wanted = [Err(0x10), first, first, Ok((1, 0x28)), Err(0x30), Ok((2, 0x38)), NOTHING];
        assert_eq!(visit(&apart, &places), wanted);
        // A function in another one hides the rest of it.
        let nested = [(0, 0, 0x20), (0, 8, 8)];
        let wanted = [Ok((0, 8)), Ok((1, 0x10)), NOTHING];
        assert_eq!(visit(&nested, &[(0, 0), (0, 8), (0, 0x10)]), wanted);
        // Of two that start at one place, the larger one; one without bytes hides nothing.
        let same = [(0, 0, 8), (0, 0, 0x10), (0, 4, 0), (0, 4, 0), (0, 0xc, 8)];
        assert_eq!(
            visit(&same, &[(0, 0), (0, 4), (0, 0xc)]),
            [Ok((1, 0xc)), Ok((1, 0xc)), Ok((4, 0x14))]
        );
        assert_eq!(visit(&[(0, 0, 0), (0, 8, 0)], &[(0, 0), (0, 8)]), [Err(8), NOTHING]);
    }

    /// The code of one section may end before its functions do, and the next section's addresses start again.
    #[test]
    fn functions_of_other_sections_are_passed_over() {
        let functions = [(1, 0, 0x20), (1, 0x30, 8), (2, 8, 8), (4, 0, 8)];
        let places = [(1, 0), (2, 0), (2, 8), (2, 0x10), (3, 0), (4, 0), (4, 8), (5, 0)];
        let wanted =
            [Ok((0, 0x20)), Err(8), Ok((2, 0x10)), NOTHING, NOTHING, Ok((3, 8)), NOTHING, NOTHING];
        assert_eq!(visit(&functions, &places), wanted);
        // A function of the next section does not end one of this section.
        assert_eq!(visit(&[(1, 0x10, 0x20), (2, 0x18, 8)], &[(1, 0x10)]), [Ok((0, 0x30))]);
    }
}
