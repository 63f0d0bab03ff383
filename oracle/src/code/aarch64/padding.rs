//! The instructions with which gaps in code are filled.

use crate::code::padding::{Filling, Paddings};

const NOP: u32 = 0xd503_201f;

/// Adds the instructions of code to the search for padding.
pub(in crate::code) fn search_padding(code: &[u8], paddings: &mut Paddings) {
    for bytes in code.as_chunks().0 {
        paddings.add(filling(u32::from_le_bytes(*bytes)), bytes.len());
    }
}

fn filling(word: u32) -> Filling {
    let is_trap = word >> 16 == 0 || word & 0xffe0_001f == 0xd420_0000;
    // Bits 21 and 24 of a jump by register: whether it is a call, and whether the target is authenticated.
    let is_jump_by_register = word >> 25 == 0b110_1011 && word >> 21 & 0b111 != 1;
    match word {
        NOP => Filling::Filler,
        _ if is_trap => Filling::Filler,
        _ if word >> 26 == 0b00_0101 || is_jump_by_register => Filling::End,
        _ => Filling::Other,
    }
}
