//! Functions by address, for consumers that list the functions of a section and search by address elsewhere.

use crate::answer::Stop;
use crate::table::NO_FUNCTION;

/// The functions of a section, ordered by address.
#[derive(Debug, Default)]
pub(crate) struct Index(Vec<(u64, u32)>);

impl Index {
    pub(crate) fn of(functions: impl Iterator<Item = (u64, u32)>) -> Index {
        let mut list: Vec<(u64, u32)> = functions.collect();
        list.sort_unstable();
        Index(list)
    }

    /// The function that starts last at or before a PC.
    pub(crate) fn find(&self, pc: u64) -> Result<u32, Stop> {
        let after = self.0.partition_point(|(start, _)| *start <= pc);
        let found = after.checked_sub(1).and_then(|place| self.0.get(place));
        found.map(|(_, index)| *index).ok_or(NO_FUNCTION)
    }
}
