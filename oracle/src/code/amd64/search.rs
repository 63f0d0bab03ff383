//! Finds out by its bytes whether code may refer to some addresses.

use core::ops::Range;

/// The maximum number of bytes in an instruction after its distance to an address: an immediate number, or an opcode.
const AFTER: u64 = 4;
/// The farthest address that a distance of 8 or 16 bits leads to, from the start of the instruction.
const NEAR: u64 = (1 << 15) + 15;

/// Whether the code at `address` may contain an instruction that refers to an address in a range: always if one does. Addresses
/// are compared without their upper halves, which instructions with addresses of 32 bits clear.
#[allow(clippy::cast_possible_truncation, reason = "upper halves are not compared")]
pub(in crate::code) fn may_refer(code: &[u8], address: u64, targets: &Range<u64>) -> bool {
    let end = address.saturating_add(code.len() as u64);
    let is_near =
        address < targets.end.saturating_add(NEAR) && end > targets.start.saturating_sub(NEAR);
    let lowest = targets.start.wrapping_sub(AFTER);
    let length = targets.end.wrapping_sub(lowest);
    if is_near || length > u64::from(u32::MAX) {
        return true;
    }
    // A distance of 32 bits may be at any place. Four passes over adjacent words take less time than one over all places,
    // because compilers make them compare several words at once.
    (0..4).any(|first| {
        let words = code.get(first..).unwrap_or_default().as_chunks().0;
        // From the end of the word, as a distance from the lowest address.
        let mut from = (address.wrapping_add(first as u64 + 4).wrapping_sub(lowest)) as u32;
        let mut found = false;
        for word in words {
            found |= u32::from_le_bytes(*word).wrapping_add(from) < length as u32;
            from = from.wrapping_add(4);
        }
        found
    })
}
