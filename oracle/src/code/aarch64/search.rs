//! Finds out by its bytes whether code may refer to some addresses.

use core::ops::Range;

/// The largest distance from the page of `adrp` that one instruction adds: 4095 times 8 bytes.
const LARGEST_OFFSET: u64 = 0x7ff8;

/// Whether the code at `address` may contain an instruction that refers to an address in a range, alone or together with a
/// later one: always if one does. Whatever a word is, it is taken for each of the instructions that contain a distance, so
/// that decoding decides only later. After data in code, decoding may go on at any byte.
pub(in crate::code) fn may_refer(code: &[u8], address: u64, targets: &Range<u64>) -> bool {
    let length = targets.end.wrapping_sub(targets.start);
    let is_in = |place: u64| place.wrapping_sub(targets.start) < length;
    let is_page = |page: u64| {
        page.wrapping_sub(targets.start).wrapping_add(LARGEST_OFFSET)
            < length.saturating_add(LARGEST_OFFSET)
    };
    let mut address = address;
    code.windows(4).any(|window| {
        let word = window.first_chunk().map_or(0, |word| u32::from_le_bytes(*word)).cast_signed();
        // Arm Architecture Reference Manual, C4.1: 26 bits in `b` and `bl`, 19 in `b.cond` and `cbz`, 14 in `tbz`.
        let jump = |shift: u32, width: u32| {
            let distance = word.wrapping_shl(32 - width - shift).wrapping_shr(32 - width);
            address.wrapping_add_signed(i64::from(distance) * 4)
        };
        let relative = i64::from(word.wrapping_shl(8) >> 13) << 2 | i64::from(word >> 29 & 3);
        let is_found = is_in(jump(0, 26))
            || is_in(jump(5, 19))
            || is_in(jump(5, 14))
            || is_in(address.wrapping_add_signed(relative))
            || is_page((address & !0xfff).wrapping_add_signed(relative << 12));
        address = address.wrapping_add(1);
        is_found
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: u64 = 0x1_0000_0000;

    /// Instructions and their distances, as GNU as encodes them; those of `adrp` are from its page.
    #[test]
    fn every_distance_is_found() {
        let may = |code: &[u8], targets| may_refer(code, ADDRESS, &targets);
        for (word, distance) in [
            // b, bl
            (0x15c0_0000_u32, 0x700_0000),
            (0x9640_0000, -0x700_0000),
            // b.eq, cbz, tbz
            (0x5478_0000, 0xf_0000),
            (0xb488_0003, -0xf_0000),
            (0x361b_8003, 0x7000),
            // adr
            (0x3078_0003, 0xf_0001),
        ] {
            let target = ADDRESS.wrapping_add_signed(distance);
            // After a byte of data, too.
            for padding in 0..5 {
                let mut code = vec![0; padding];
                code.extend(word.to_le_bytes());
                let target = target + padding as u64;
                assert!(may(&code, target..target + 1), "{word:#x}");
                assert!(!may(&code, target + (1 << 40)..target + (2 << 40)), "{word:#x}");
            }
        }
    }

    /// What may be added to a page in one instruction: 4095, or 4095 times 8 bytes.
    #[test]
    fn pages_are_found_with_what_is_added() {
        let (code, page) = (0x9038_0003_u32.to_le_bytes(), ADDRESS + 0x7000_0000);
        for added in [0, 1, 0xfff, 0x1000, 0x7ff8] {
            let target = page + added;
            assert!(may_refer(&code, ADDRESS + 0xffc, &(target..target + 1)), "{added:#x}");
        }
        for target in [page - 1, page + 0x8000] {
            assert!(!may_refer(&code, ADDRESS + 0xffc, &(target..target + 1)), "{target:#x}");
        }
    }
}
