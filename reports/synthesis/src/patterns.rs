//! What is known about the functions of a pattern, in bounded memory.

use std::collections::HashMap;
use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use sframe_oracle::coverage::Cause;

use crate::measure::Measured;
use crate::model::Function;
use crate::pattern::CiePattern;

/// The maximum memory for patterns, in bytes.
const MAX_BYTES: usize = 16 << 20;
/// The maximum number of patterns of CIEs. Files have a few, and nearly all files the same ones.
const MAX_CIES: usize = 4096;

/// What becomes of the functions of a pattern in one encoding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    /// Why they are left out.
    pub(crate) lost: Option<Cause>,
    /// The entry that describes them.
    pub(crate) shape: Option<Shape>,
}

/// The entry of a function, without its place and size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Its size; `starts` is that of the first function that had the pattern.
    pub(crate) measured: Measured,
    /// Whether the size of the function determines the width of start fields, not the last row.
    pub(crate) by_size: bool,
    pub(crate) signal: bool,
    pub(crate) pauth_key_b: bool,
    /// A hash of the frames.
    pub(crate) frames: u64,
    /// The place of the list of its rows' starts.
    pub(crate) starts: Span,
}

/// A range of [`Patterns::starts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    start: usize,
    end: usize,
}

/// What is known about the functions of each pattern.
#[derive(Clone, Debug)]
pub(crate) struct Patterns {
    /// Hashes keys in another way in each run, so that no input can be made whose keys collide.
    state: RandomState,
    cies: HashMap<CiePattern, u32>,
    /// The number of the CIE pattern that comes next. Numbers are not used again, even after everything is forgotten.
    next_cie: u32,
    /// Hashes of keys to entries.
    table: HashMap<u64, Entry, RandomState>,
    keys: Vec<u8>,
    outcomes: Vec<Outcome>,
    /// Indices of [`crate::pattern::Pattern::places`].
    starts: Vec<u16>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: Span,
    outcomes: Span,
}

impl Patterns {
    pub(crate) fn new() -> Patterns {
        Patterns {
            state: RandomState::default(),
            cies: HashMap::new(),
            next_cie: 0,
            table: HashMap::default(),
            keys: Vec::new(),
            outcomes: Vec::new(),
            starts: Vec::new(),
        }
    }

    /// The number of a CIE's pattern; `None` if there are no numbers left.
    pub(crate) fn cie(&mut self, cie: CiePattern) -> Option<u32> {
        if let Some(number) = self.cies.get(&cie) {
            return Some(*number);
        }
        if self.cies.len() >= MAX_CIES {
            self.cies.clear();
        }
        let number = self.next_cie;
        self.next_cie = number.checked_add(1)?;
        self.cies.insert(cie, number);
        Some(number)
    }

    /// The outcomes for a pattern, in the order in which they were added.
    pub(crate) fn find(&self, key: &[u8]) -> Option<&[Outcome]> {
        let entry = self.table.get(&self.state.hash_one(key))?;
        if self.keys.get(entry.key.start..entry.key.end) != Some(key) {
            return None;
        }
        self.outcomes.get(entry.outcomes.start..entry.outcomes.end)
    }

    /// The starts of a shape's rows, as indices of a function's places.
    pub(crate) fn starts(&self, span: Span) -> &[u16] {
        self.starts.get(span.start..span.end).unwrap_or_default()
    }

    /// Adds what was found out about a function for each encoding, whose advances arrive at `places`. Forgets everything
    /// else if there is no memory left.
    pub(crate) fn add(&mut self, key: &[u8], places: &[u32], found: &[Visited]) {
        if self.bytes() >= MAX_BYTES {
            self.table.clear();
            self.keys.clear();
            self.outcomes.clear();
            self.starts.clear();
        }
        let first = self.outcomes.len();
        for visited in found {
            let shape = visited.found.as_ref().map(|found| {
                let earlier = self.outcomes.get(first..).unwrap_or_default();
                let earlier: Vec<Span> =
                    earlier.iter().filter_map(|outcome| Some(outcome.shape?.starts)).collect();
                self.shape(found, places, &earlier)
            });
            let Some(shape) = shape.map_or(Some(None), |shape| shape.map(Some)) else {
                return self.outcomes.truncate(first);
            };
            self.outcomes.push(Outcome { lost: visited.lost, shape });
        }
        let start = self.keys.len();
        self.keys.extend_from_slice(key);
        let entry = Entry {
            key: Span { start, end: self.keys.len() },
            outcomes: Span { start: first, end: self.outcomes.len() },
        };
        self.table.insert(self.state.hash_one(key), entry);
    }

    /// `None` if a row does not start where an advance arrives.
    fn shape(
        &mut self,
        (function, measured, frames): &(Function, Measured, u64),
        places: &[u32],
        earlier: &[Span],
    ) -> Option<Shape> {
        let start = self.starts.len();
        let mut places = places.iter().enumerate();
        for row in &function.rows {
            let offset = row.start.checked_sub(function.start.address)?;
            let found = places.find(|(_, place)| u64::from(**place) == offset);
            let index = found.and_then(|(index, _)| u16::try_from(index).ok());
            let Some(index) = index else {
                self.starts.truncate(start);
                return None;
            };
            self.starts.push(index);
        }
        let mut starts = Span { start, end: self.starts.len() };
        if let Some(same) = earlier.iter().find(|span| self.starts(**span) == self.starts(starts)) {
            self.starts.truncate(start);
            starts = *same;
        }
        Some(Shape {
            measured: *measured,
            by_size: function.start_width.is_some(),
            signal: function.signal,
            pauth_key_b: function.pauth_key_b,
            frames: *frames,
            starts,
        })
    }

    /// The memory used, about.
    fn bytes(&self) -> usize {
        let entries = self.table.len().saturating_mul(2 * (size_of::<Entry>() + 9));
        let outcomes = self.outcomes.len().saturating_mul(size_of::<Outcome>());
        let starts = self.starts.len().saturating_mul(size_of::<u16>());
        self.keys.len().saturating_add(entries).saturating_add(outcomes).saturating_add(starts)
    }
}

/// What became of one function in one encoding.
#[derive(Clone, Debug, Default)]
pub(crate) struct Visited {
    pub(crate) lost: Option<Cause>,
    /// The function, its size, and a hash of its frames.
    pub(crate) found: Option<(Function, Measured, u64)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five times as many patterns as there is room for.
    #[test]
    fn memory_is_bounded() {
        let mut patterns = Patterns::new();
        let lost = Visited { lost: Some(Cause::ZeroSize), found: None };
        let mut largest = 0;
        for number in 0..20_u32 {
            let key = [number.to_le_bytes().as_slice(), &[0; 1 << 22]].concat();
            patterns.add(&key, &[0], std::slice::from_ref(&lost));
            let found = patterns.find(&key).expect("it was added");
            assert_eq!(found.first().and_then(|outcome| outcome.lost), Some(Cause::ZeroSize));
            largest = largest.max(patterns.bytes());
        }
        assert!(largest < MAX_BYTES + (1 << 23), "{largest}");
        assert!(patterns.find(&[0; 4]).is_none());
    }
}
