//! The facts that decide whether a row starts at a sound place in its function. They are few, and the same for nearly
//! all rows of a section, so the walk can remember which of them broke no rule.

use core::cmp::Ordering;

use crate::abi::Abi;
use crate::section::Function;

/// Where the rows of one function can start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowSpace {
    /// The size in bytes of the function, or of its repeated block.
    length: u32,
    /// The machine's alignment of instructions, minus 1.
    misalignment: u32,
    function: u8,
}

/// Where a row starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowPlace {
    /// Facts about the row.
    row: u8,
    /// Facts that all rows of the function share.
    function: u8,
}

impl RowSpace {
    pub(crate) fn of(function: &Function<'_>) -> RowSpace {
        let block = function.repeat_size().ok().flatten().map(u32::from);
        let alignment = function.section().abi().map_or(1, Abi::instruction_alignment);
        let repeats = function.attributes().info.is_pc_mask();
        let facts = [
            (repeats, RowPlace::REPEATS),
            (block.is_some(), RowPlace::IN_BLOCK),
            (function.size() == 0, RowPlace::IN_EMPTY),
        ];
        RowSpace {
            length: block.unwrap_or(function.size()),
            misalignment: alignment - 1,
            function: facts.into_iter().filter(|(is, _)| *is).map(|(_, fact)| fact).sum(),
        }
    }

    /// Whether a row that starts at `start` and follows one that starts at `before` is at an ordinary place, like
    /// nearly all rows: at an instruction inside the function, and either at the start of the function if it is the
    /// first row, or after the preceding row.
    #[inline]
    pub(crate) fn is_ordinary(&self, start: u32, before: Option<u32>) -> bool {
        let ordered = match before {
            Some(before) => before < start,
            None => start == 0,
        };
        ordered && start < self.length && start & self.misalignment == 0
    }

    /// The place of a row that starts at `start` and follows one that starts at `before`.
    pub(crate) fn place(&self, start: u32, before: Option<u32>) -> RowPlace {
        let order = match before.map(|before| start.cmp(&before)) {
            None => RowPlace::FIRST,
            Some(Ordering::Less) => RowPlace::EARLIER,
            Some(Ordering::Equal) => RowPlace::DUPLICATE,
            Some(Ordering::Greater) => 0,
        };
        let end = match start.cmp(&self.length) {
            Ordering::Less => 0,
            Ordering::Equal => RowPlace::AT_END,
            Ordering::Greater => RowPlace::PAST_END,
        };
        let at_start = if start == 0 { RowPlace::AT_START } else { 0 };
        let unaligned = if start & self.misalignment == 0 { 0 } else { RowPlace::UNALIGNED };
        let row = [order, end, at_start, unaligned].into_iter().sum();
        RowPlace { row, function: self.function }
    }
}

impl RowPlace {
    const AT_START: u8 = 1;
    const UNALIGNED: u8 = 2;
    /// The order is a number in two bits, and so is the end: the 6 bits distinguish 64 places of rows.
    const ORDER: u8 = 3 << 2;
    const FIRST: u8 = 1 << 2;
    const DUPLICATE: u8 = 2 << 2;
    const EARLIER: u8 = 3 << 2;
    const END: u8 = 3 << 4;
    const AT_END: u8 = 1 << 4;
    const PAST_END: u8 = 2 << 4;

    const REPEATS: u8 = 1;
    const IN_BLOCK: u8 = 2;
    const IN_EMPTY: u8 = 4;

    /// Whether the row is the first of its function.
    pub(crate) const fn is_first(self) -> bool {
        self.row & RowPlace::ORDER == RowPlace::FIRST
    }

    /// Whether the row starts where the preceding row starts.
    pub(crate) const fn is_duplicate(self) -> bool {
        self.row & RowPlace::ORDER == RowPlace::DUPLICATE
    }

    /// Whether the row starts before the preceding row.
    pub(crate) const fn is_earlier(self) -> bool {
        self.row & RowPlace::ORDER == RowPlace::EARLIER
    }

    /// Whether the row starts where the function starts.
    pub(crate) const fn is_at_start(self) -> bool {
        self.row & RowPlace::AT_START != 0
    }

    /// Whether the row starts at an instruction boundary.
    pub(crate) const fn is_aligned(self) -> bool {
        self.row & RowPlace::UNALIGNED == 0
    }

    /// Whether the row starts where the function, or its repeated block, ends.
    pub(crate) const fn is_at_end(self) -> bool {
        self.row & RowPlace::END == RowPlace::AT_END
    }

    /// Whether the row starts past the end of the function, or of its repeated block.
    pub(crate) const fn is_past_end(self) -> bool {
        self.row & RowPlace::END == RowPlace::PAST_END
    }

    /// Whether the rows of its function repeat.
    pub(crate) const fn repeats(self) -> bool {
        self.function & RowPlace::REPEATS != 0
    }

    /// Whether the rows of its function repeat in blocks of a known size.
    pub(crate) const fn is_in_block(self) -> bool {
        self.function & RowPlace::IN_BLOCK != 0
    }

    /// Whether its function has no bytes of code.
    pub(crate) const fn is_in_empty_function(self) -> bool {
        self.function & RowPlace::IN_EMPTY != 0
    }
}

/// Places of rows that broke no rule.
#[derive(Debug, Default)]
pub(crate) struct SoundPlaces {
    /// A bit for each place of a row, indexed by the facts about the function.
    known: [u64; 8],
}

impl SoundPlaces {
    #[inline]
    pub(crate) fn contains(&self, place: RowPlace) -> bool {
        let known = self.known.get(usize::from(place.function)).copied().unwrap_or(0);
        known >> (place.row & 63) & 1 != 0
    }

    /// Whether both [ordinary places](RowSpace::is_ordinary) are known to be sound: that of a first row and that of
    /// other rows.
    #[inline]
    pub(crate) fn contains_ordinary(&self, space: &RowSpace) -> bool {
        const ORDINARY: u64 = 1 | 1 << (RowPlace::FIRST | RowPlace::AT_START);
        let known = self.known.get(usize::from(space.function)).copied().unwrap_or(0);
        known & ORDINARY == ORDINARY
    }

    pub(crate) fn insert(&mut self, place: RowPlace) {
        if let Some(known) = self.known.get_mut(usize::from(place.function)) {
            *known |= 1 << (place.row & 63);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{RowPlace, RowSpace, SoundPlaces};

    /// A function of 16 bytes on a machine with instructions at multiples of 4.
    const SPACE: RowSpace = RowSpace { length: 16, misalignment: 3, function: 0 };

    /// The facts in the order in which [`RowPlace`] lists them: the place relative to the preceding row, to the
    /// function's start, to instructions, and to the function's end.
    fn facts(place: RowPlace) -> ([bool; 3], bool, bool, [bool; 2]) {
        (
            [place.is_first(), place.is_duplicate(), place.is_earlier()],
            place.is_at_start(),
            place.is_aligned(),
            [place.is_at_end(), place.is_past_end()],
        )
    }

    #[test]
    fn a_place_has_the_facts_that_its_numbers_say() {
        let befores = (0..40).map(Some).chain([None]);
        for (start, before) in (0..40).flat_map(|start| befores.clone().map(move |b| (start, b))) {
            let order = match before {
                None => [true, false, false],
                Some(before) => [false, start == before, start < before],
            };
            let expected = (order, start == 0, start % 4 == 0, [start == 16, start > 16]);
            let place = SPACE.place(start, before);
            assert_eq!(facts(place), expected, "{start} after {before:?}");
            assert!(!place.repeats() && !place.is_in_block() && !place.is_in_empty_function());
            // An ordinary place is at an instruction inside the function, at its start or after the preceding row.
            let in_order = if before.is_none() { start == 0 } else { order == [false; 3] };
            let ordinary = in_order && start % 4 == 0 && start < 16;
            assert_eq!(SPACE.is_ordinary(start, before), ordinary, "{start} after {before:?}");
        }
    }

    #[test]
    fn facts_about_the_function_are_separate() {
        for function in 0..8_u8 {
            let place = RowSpace { function, ..SPACE }.place(16, Some(20));
            let facts = [place.repeats(), place.is_in_block(), place.is_in_empty_function()];
            assert_eq!(facts, [1, 2, 4].map(|bit| function & bit == bit));
        }
    }

    #[test]
    fn only_places_that_were_inserted_are_contained() {
        let places =
            || (0..8).flat_map(|function| (0..64).map(move |row| RowPlace { row, function }));
        for inserted in places() {
            let mut sound = SoundPlaces::default();
            sound.insert(inserted);
            sound.insert(RowPlace { row: 17, function: 5 });
            for place in places() {
                let known = place == inserted || place == RowPlace { row: 17, function: 5 };
                assert_eq!(sound.contains(place), known, "{place:?}");
            }
        }
    }

    /// Both a first row and a later one must have been found sound, in a function of the same kind.
    #[test]
    fn ordinary_places_are_known_together() {
        let other = RowSpace { function: 1, ..SPACE };
        let (first, later) = (SPACE.place(0, None), SPACE.place(4, Some(0)));
        let mut sound = SoundPlaces::default();
        sound.insert(later);
        assert!(!sound.contains_ordinary(&SPACE));
        sound.insert(first);
        assert!(sound.contains_ordinary(&SPACE) && !sound.contains_ordinary(&other));
        let mut sound = SoundPlaces::default();
        sound.insert(first);
        assert!(!sound.contains_ordinary(&SPACE));
    }
}
