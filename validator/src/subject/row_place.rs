//! The facts that decide whether a row starts at a sound place in its function. They are few, and the same for nearly
//! all rows of a section, so the walk can remember which of them broke no rule.

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
        let fact = |is: bool, fact: u8| if is { fact } else { 0 };
        let order = match before {
            Some(before) => {
                fact(start == before, RowPlace::DUPLICATE) | fact(start < before, RowPlace::EARLIER)
            }
            None => RowPlace::FIRST,
        };
        let row = order
            | fact(start == 0, RowPlace::AT_START)
            | fact(start & self.misalignment != 0, RowPlace::UNALIGNED)
            | fact(start == self.length, RowPlace::AT_END)
            | fact(start > self.length, RowPlace::PAST_END);
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
