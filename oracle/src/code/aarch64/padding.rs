//! The instructions with which gaps in code are filled.

use crate::code::padding::Filling;

const NOP: u32 = 0xd503_201f;

/// What the first instruction of code is, and its length in bytes.
pub(in crate::code) fn filling(code: &[u8]) -> (Filling, usize) {
    let Some(bytes) = code.first_chunk() else { return (Filling::Other, code.len()) };
    let word = u32::from_le_bytes(*bytes);
    let is_trap = word >> 16 == 0 || word & 0xffe0_001f == 0xd420_0000;
    // Bits 21 and 24 of a jump by register: whether it is a call, and whether the target is authenticated.
    let is_jump_by_register = word >> 25 == 0b110_1011 && word >> 21 & 0b111 != 1;
    let filling = match word {
        NOP => Filling::Filler,
        _ if is_trap => Filling::Filler,
        _ if word >> 26 == 0b00_0101 || is_jump_by_register => Filling::End,
        _ => Filling::Other,
    };
    (filling, bytes.len())
}
