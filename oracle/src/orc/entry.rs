//! An entry at its place.

use sframe_validator::unwind::CodeAddress;

use super::layout::RawEntry;
use super::meaning::Meaning;

/// An entry of the tables, and the code for which it is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrcEntry {
    /// The first PC.
    pub start: CodeAddress,
    /// The end, exclusive: the next entry's start or the end of the code section. If it equals the start, a later entry
    /// replaces this one, or it is the last one of its section.
    pub end: u64,
    /// The number of the entry in the file's tables.
    pub index: u32,
    /// Its bytes.
    pub raw: RawEntry,
    /// Its meaning.
    pub meaning: Meaning,
}

impl OrcEntry {
    /// Whether the entry is valid at a place.
    #[must_use]
    pub fn contains(&self, place: CodeAddress) -> bool {
        self.start.section == place.section
            && self.start.address <= place.address
            && place.address < self.end
    }
}
