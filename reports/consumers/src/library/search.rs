//! The search for a function in releases up to 2.44, whose interface has 32 bits for a PC.

use super::Library;
use crate::answer::Stop;
use crate::header::SORTED;
use crate::table::NO_FUNCTION;

/// The last function that starts at or before a PC.
pub(crate) fn find(library: &Library<'_>, pc: u64) -> Result<u32, Stop> {
    let count = i64::from(library.header.functions.cast_signed());
    if count == 0 {
        return Err(NO_FUNCTION);
    }
    if !library.header.has(SORTED) {
        return Err(Stop::error("the table is not sorted"));
    }
    let relative = i64::from(relative(library, pc)?);
    let start = |place: i64| {
        let index = u32::try_from(place).unwrap_or(u32::MAX);
        library.entry(index).map(|entry| (index, entry.start))
    };
    let (mut low, mut high) = (0, count);
    while low <= high {
        let middle = low + (high - low) / 2;
        let (index, here) = start(middle)?;
        if here == relative {
            return Ok(index);
        }
        if here < relative {
            if middle == count - 1 || start(middle + 1)?.1 > relative {
                return Ok(index);
            }
            low = middle + 1;
        } else {
            high = middle - 1;
        }
    }
    Err(NO_FUNCTION)
}

/// The section, where relative addresses change their sign, and the ends of what 32 bits can express.
pub(crate) fn other_places(library: &Library<'_>) -> Vec<u64> {
    let end = library.address.wrapping_add(1 << 31);
    vec![library.address, end, library.address.wrapping_sub(1 << 31)]
}

/// A PC relative to the section, which has 32 bits in the interface.
pub(crate) fn relative(library: &Library<'_>, pc: u64) -> Result<i32, Stop> {
    i32::try_from(pc.wrapping_sub(library.address).cast_signed()).map_err(|_| NO_FUNCTION)
}
