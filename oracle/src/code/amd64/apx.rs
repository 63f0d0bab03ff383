//! The forms of Intel APX that touch the stack, which iced-x86 does not decode: `push2`, `pop2`, `pushp`, `popp`, and `push` and
//! `pop` of R16 to R31 (Intel APX Architecture Specification, 3.1.2 and 5.2).

use super::NUMBERS;
use crate::code::effect::{Effect, NO_REGISTER, RegisterNumber};

/// RSP.
const SP: RegisterNumber = 7;

/// Decodes one of these instructions at the start of `code`, after which the following one is executed. Its effects are added to
/// `effects`. Returns its length in bytes; `None` for others.
pub(super) fn decode(code: &[u8], effects: &mut Vec<Effect>) -> Option<u8> {
    match *code {
        [0xd5, prefix, opcode, ..] => with_rex2(prefix, opcode, effects),
        [0x62, first, second, third, opcode, operands, ..] => {
            with_evex([first, second, third], opcode, operands, effects)
        }
        _ => None,
    }
}

/// `push` and `pop` with the prefix REX2, whose bits are, from the highest: M0, R4, X4, B4, W, R3, X3, B3.
fn with_rex2(prefix: u8, opcode: u8, effects: &mut Vec<Effect>) -> Option<u8> {
    const LENGTH: u8 = 3;
    let register = register(opcode & 7 | (prefix & 1) << 3 | (prefix >> 4 & 1) << 4);
    let has_other_map = prefix & 0x80 != 0;
    match opcode {
        _ if has_other_map => return None,
        0x50..=0x57 => push(register, effects),
        0x58..=0x5f => pop(register, effects),
        _ => return None,
    }
    Some(LENGTH)
}

/// `push2` and `pop2`, whose bytes of the prefix EVEX have, from the highest bit, with those that are inverted in parentheses: (R3),
/// (X3), (B3), (R4), B4 and the map; W, (V3 to V0), (X4) and the kind of prefix; 0, 0, 0, ND, (V4), 0, 0, 0.
fn with_evex(
    [first, second, third]: [u8; 3],
    opcode: u8,
    operands: u8,
    effects: &mut Vec<Effect>,
) -> Option<u8> {
    const LENGTH: u8 = 6;
    let is_form = first & 7 == 4 && second & 3 == 0 && third & 0xf7 == 0x10 && operands >> 6 == 3;
    if !is_form {
        return None;
    }
    let one = register(!second >> 3 & 15 | (!third >> 3 & 1) << 4);
    let other = register(operands & 7 | (!first >> 5 & 1) << 3 | (first >> 3 & 1) << 4);
    match (opcode, operands >> 3 & 7) {
        (0xff, 6) => [one, other].into_iter().for_each(|register| push(register, effects)),
        (0x8f, 0) => [one, other].into_iter().for_each(|register| pop(register, effects)),
        _ => return None,
    }
    Some(LENGTH)
}

/// The DWARF number of a register. R16 to R31 are not followed.
fn register(number: u8) -> RegisterNumber {
    NUMBERS.get(usize::from(number)).copied().unwrap_or(NO_REGISTER)
}

fn push(register: RegisterNumber, effects: &mut Vec<Effect>) {
    effects.push(Effect::Copy { to: SP, from: SP, plus: -8 });
    effects.push(Effect::Store { from: register, base: SP, offset: 0, size: 8 });
}

fn pop(register: RegisterNumber, effects: &mut Vec<Effect>) {
    effects.push(Effect::Load { to: register, base: SP, offset: 0 });
    effects.push(Effect::Copy { to: SP, from: SP, plus: 8 });
}
