//! Effects that are skipped.

use sframe_validator::Abi;

use super::entry;
use crate::code::effect::{
    self, ControlFlow, Effect, Extension, Key, NO_REGISTER, RegisterNumber, RegisterSet,
};
use crate::code::jump_table::JumpTables;

/// RAX and RDX, about which nothing is known; RBP and R12, which hold the caller's values; no register.
const REGISTERS: [RegisterNumber; 5] = [0, 1, 6, 12, NO_REGISTER];

pub(super) const fn copy(to: RegisterNumber, from: RegisterNumber, plus: i32) -> Effect {
    Effect::Copy { to, from, plus }
}

pub(super) const fn store(
    from: RegisterNumber,
    base: RegisterNumber,
    offset: i32,
    size: u8,
) -> Effect {
    Effect::Store { from, base, offset, size }
}

/// Whether an instruction of `length` bytes was decoded that the following one comes after.
pub(super) fn goes_on(decoded: Option<(u8, ControlFlow)>, length: u8) -> bool {
    decoded.is_some_and(|(found, next)| {
        found == length && matches!(next, ControlFlow::Following | ControlFlow::SystemCall)
    })
}

/// Effects of all kinds that may be skipped, on registers of all kinds.
fn effects() -> Vec<Effect> {
    let mut effects = vec![Effect::Forget, Effect::Clobber(0), Effect::Clobber(0b11)];
    for a in REGISTERS {
        for b in REGISTERS {
            effects.extend([
                copy(a, b, 0),
                copy(a, b, 8),
                Effect::Narrow { to: a, from: b, most: u32::MAX },
                Effect::Narrow { to: a, from: b, most: 0xff },
                Effect::Load { to: a, base: b, offset: 0 },
                store(a, b, 0, 8),
                Effect::Subtract { to: a, a, b },
                Effect::Add { to: a, a, b, shift: 0, extension: Extension::Zero },
                Effect::Extend { to: a, from: b },
                Effect::Element {
                    to: a,
                    base: b,
                    offset: 0,
                    index: b,
                    scale: 4,
                    size: 4,
                    extension: Extension::Sign,
                },
            ]);
        }
    }
    effects
}

#[test]
fn effects_without_known_subjects_change_nothing() {
    let comparisons = [
        Effect::Forget,
        Effect::Compare { a: 0, b: 12 },
        Effect::CompareNumber { a: 1, number: 7 },
    ];
    let mut skipped = [0; 3];
    for (comparison, skipped) in comparisons.into_iter().zip(&mut skipped) {
        let mut tables = JumpTables::default();
        let mut state = entry(Abi::Amd64);
        state.apply(Effect::Clobber(0b11), &mut tables);
        state.apply(comparison, &mut tables);
        let before = format!("{state:?}");
        for effect in effects() {
            if state.concerns(effect.subjects()) {
                continue;
            }
            let mut after = state.clone();
            after.apply(effect, &mut tables);
            assert_eq!(format!("{after:?}"), before, "{effect:?} after {comparison:?}");
            *skipped += 1;
        }
    }
    // Counted by hand: 3 effects that name no register or unknown ones; 7 kinds (two copies, narrowing to 32 bits, extending
    // them, stores, sums, differences) on the 9 pairs of RAX, RDX and no register; loads and elements with one of 2 bases into
    // one of 3.
    assert_eq!(skipped[0], 3 + 7 * 9 + 2 * 2 * 3, "{skipped:?}");
    assert!(skipped[1] < skipped[0] && skipped[2] < skipped[0], "{skipped:?}");
}

/// After an effect, only registers that it may change have another content, and the stack only if it may change that.
#[test]
fn effects_change_only_what_they_may_change() {
    let mut all = effects();
    all.extend([
        Effect::Constant { to: 6, value: 1 },
        Effect::Add { to: 3, a: 12, b: 7, shift: 0, extension: Extension::Zero },
        Effect::Limit { to: 6, most: 3 },
        Effect::Scale { to: 6, index: 0, size: 4 },
        Effect::Align { register: 7, place: 1 },
        Effect::Load { to: 6, base: 7, offset: 0 },
        Effect::Store { from: 6, base: 7, offset: -8, size: 8 },
        Effect::Call(0b1111_0011_0111),
        Effect::SystemCall {
            number: 0,
            clone: 56,
            stack: 4,
            ends: [15, 60, 231],
            clobbers: 0b1000_0000_0101,
        },
        Effect::Compare { a: 6, b: 7 },
        Effect::CompareNumber { a: 6, number: 1 },
        Effect::Sign(Key::A),
    ]);
    let mut changed = [0; 2];
    for abi in [Abi::Amd64, Abi::Aarch64Little] {
        let before = entry(abi);
        for effect in &all {
            let mut after = before.clone();
            after.apply(*effect, &mut JumpTables::default());
            let is_framed = effect.changes().meet(RegisterSet::FRAME);
            for register in (0..).take(effect::REGISTERS) {
                let is_changed = after.packed(register) != before.packed(register);
                let is_ra = is_framed && u32::from(register) == abi.ra().0;
                let may_change = effect.changes().meet(RegisterSet::of(register)) || is_ra;
                assert!(may_change || !is_changed, "{effect:?} changes {register}");
                changed[0] += u32::from(is_changed);
            }
            let is_changed = !after.stack.is_like(&before.stack);
            assert!(is_framed || !is_changed, "{effect:?} changes the stack");
            changed[1] += u32::from(is_changed);
        }
    }
    assert!(changed.iter().all(|count| *count > 5), "{changed:?}");
}
