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

#[cfg(test)]
#[allow(clippy::indexing_slicing, reason = "a test: it may panic")]
mod tests {
    use super::*;

    /// The address of the code: far from what it refers to.
    const ADDRESS: u64 = 0x10_0000;

    /// Instructions with a distance at the places of the four bytes 0xdd, as GNU as encodes them.
    #[test]
    fn every_distance_of_32_bits_is_found() {
        const HERE: u8 = 0xdd;
        for instruction in [
            // call, jmp, je
            vec![0xe8, HERE, HERE, HERE, HERE],
            vec![0xe9, HERE, HERE, HERE, HERE],
            vec![0x0f, 0x84, HERE, HERE, HERE, HERE],
            // lea (%rip), %rax
            vec![0x48, 0x8d, 0x05, HERE, HERE, HERE, HERE],
            // cmpb $1, (%rip); movw $1, (%rip); movq $1, (%rip)
            vec![0x80, 0x3d, HERE, HERE, HERE, HERE, 1],
            vec![0x66, 0xc7, 0x05, HERE, HERE, HERE, HERE, 1, 0],
            vec![0x48, 0xc7, 0x05, HERE, HERE, HERE, HERE, 1, 0, 0, 0],
        ] {
            let at = instruction.iter().position(|byte| *byte == HERE).expect("a distance");
            for (padding, target) in (0..9).flat_map(|it| [(it, 0x90_0000), (it, 0x1000)]) {
                let mut code = vec![0x90; padding];
                code.extend(&instruction);
                let end = ADDRESS + code.len() as u64;
                let distance = u32::try_from(u64::wrapping_sub(target, end) & 0xffff_ffff);
                let distance = distance.expect("32 bits").to_le_bytes();
                code[padding + at..padding + at + 4].copy_from_slice(&distance);
                assert!(may_refer(&code, ADDRESS, &(target..target + 1)), "{code:x?}");
                assert!(may_refer(&code, ADDRESS, &(target - 9..target + 9)), "{code:x?}");
                assert!(!may_refer(&code, ADDRESS, &(target + 5..target + 9)), "{code:x?}");
                assert!(!may_refer(&code, ADDRESS, &(target - 99..target - 4)), "{code:x?}");
            }
        }
    }

    /// Short jumps reach addresses nearby, so that nothing is searched.
    #[test]
    fn code_nearby_is_always_found() {
        let code = [0x90; 16];
        let reach = 0x8000;
        assert!(may_refer(&code, ADDRESS, &(ADDRESS + reach..ADDRESS + reach + 1)));
        assert!(may_refer(&code, ADDRESS, &(ADDRESS - reach..ADDRESS - reach + 1)));
        assert!(!may_refer(&code, ADDRESS, &(ADDRESS + 2 * reach..ADDRESS + 3 * reach)));
    }
}
