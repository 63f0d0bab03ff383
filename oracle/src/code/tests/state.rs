//! What is known of registers and the stack after effects and branches, and where paths meet. On AMD64, RAX is 0, RBX 3,
//! RDI 5, RBP 6, RSP 7 and R12 12; RSP is 8 bytes below the CFA at the entry.

use sframe_validator::Abi;

use super::effects::copy;
use super::entry;
use crate::code::effect::{
    Condition, Effect, Extension, Key, NO_REGISTER, RegisterNumber, RegisterSet,
};
use crate::code::jump_table::JumpTables;
use crate::code::state::AbstractState;
use crate::code::unproven::Unproven;
use crate::code::value::{AbstractValue, Base, BasedAddress, ScaledIndex};

fn after(effects: &[Effect]) -> AbstractState {
    let mut state = entry(Abi::Amd64);
    state.apply_all(effects, &mut JumpTables::default());
    state
}

const fn constant(to: RegisterNumber, value: i64) -> Effect {
    Effect::Constant { to, value }
}

const fn limit(to: RegisterNumber, most: u32) -> Effect {
    Effect::Limit { to, most }
}

const fn narrow(most: u32) -> Effect {
    Effect::Narrow { to: 1, from: 0, most }
}

const fn sum(shift: u8) -> Effect {
    Effect::Add { to: 1, a: 0, b: 3, shift, extension: Extension::Zero }
}

const fn store(from: RegisterNumber, offset: i32, size: u8) -> Effect {
    Effect::Store { from, base: 7, offset, size }
}

const EXTEND: Effect = Effect::Extend { to: 1, from: 0 };
const SCALE: Effect = Effect::Scale { to: 1, index: 0, size: 4 };
const DIFFERENCE: Effect = Effect::Subtract { to: 1, a: 0, b: 3 };
const LOAD: Effect = Effect::Load { to: 1, base: 7, offset: -16 };
const SYSTEM_CALL: Effect =
    Effect::SystemCall { number: 0, clone: 56, stack: 4, ends: [15, 60, 231], clobbers: 0b101 };
const SP: AbstractValue = AbstractValue::cfa(-8);

/// The value of RDX, to which the last effect of each line leads.
#[test]
fn effects_compute_values() {
    let lines: &[(&[Effect], AbstractValue)] = &[
        (&[constant(0, 0x1234), narrow(0xff)], AbstractValue::Constant(0x34)),
        (&[limit(0, 5), narrow(3)], AbstractValue::AtMost(3)),
        (&[limit(0, 2), narrow(3)], AbstractValue::AtMost(2)),
        (&[narrow(0xff)], AbstractValue::AtMost(0xff)),
        (&[narrow(u32::MAX)], AbstractValue::Unknown),
        (&[constant(0, 0xffff_fff8), EXTEND], AbstractValue::Constant(-8)),
        (&[constant(0, 0x7fff_ffff), EXTEND], AbstractValue::Constant(0x7fff_ffff)),
        (&[constant(0, 0x1_0000_0002), EXTEND], AbstractValue::Constant(2)),
        (&[limit(0, 0x7fff_ffff), EXTEND], AbstractValue::AtMost(0x7fff_ffff)),
        (&[limit(0, 0x8000_0000), EXTEND], AbstractValue::Unknown),
        (&[copy(0, 7, 0), EXTEND], AbstractValue::Unknown),
        (&[limit(0, 5), SCALE], AbstractValue::ScaledIndex(ScaledIndex { size: 4, most: Some(5) })),
        (&[SCALE], AbstractValue::ScaledIndex(ScaledIndex { size: 4, most: None })),
        (&[constant(0, 8), constant(3, 3), sum(0)], AbstractValue::Constant(11)),
        (&[constant(0, 8), constant(3, 3), sum(1)], AbstractValue::Unknown),
        (&[copy(0, 7, 0), constant(3, 16), sum(0)], AbstractValue::cfa(8)),
        (&[constant(0, 16), copy(3, 7, 0), sum(0)], AbstractValue::cfa(8)),
        (&[copy(0, 7, 0), constant(3, 16), sum(2)], AbstractValue::Unknown),
        (&[copy(0, 7, 0), constant(3, 16), DIFFERENCE], AbstractValue::cfa(-24)),
        (&[constant(0, 16), copy(3, 7, 0), DIFFERENCE], AbstractValue::Unknown),
        (&[store(6, -16, 8), LOAD], AbstractValue::Entry(6)),
        (&[store(6, -16, 4), LOAD], AbstractValue::Unknown),
        (&[store(6, -16, 8), store(NO_REGISTER, -12, 4), LOAD], AbstractValue::Unknown),
        (&[store(6, -16, 8), store(NO_REGISTER, -8, 4), LOAD], AbstractValue::Entry(6)),
        (&[store(6, -16, 8), store(NO_REGISTER, -20, 4), LOAD], AbstractValue::Entry(6)),
        (&[store(6, -16, 8), store(NO_REGISTER, -20, 8), LOAD], AbstractValue::Unknown),
        // Compilers fill only their own variables.
        (
            &[store(6, -16, 8), copy(5, 7, -32), Effect::Fill { base: 5 }, LOAD],
            AbstractValue::Entry(6),
        ),
        // A call may overwrite what is below SP.
        (&[store(6, -16, 8), Effect::Call(0), LOAD], AbstractValue::Unknown),
        (
            &[copy(7, 7, -16), store(6, 0, 8), Effect::Call(0), copy(7, 7, 16), LOAD],
            AbstractValue::Entry(6),
        ),
        (&[copy(1, 6, 0), Effect::Clobber(0b1)], AbstractValue::Entry(6)),
        (&[copy(1, 6, 0), Effect::Clobber(0b10)], AbstractValue::Unknown),
    ];
    for (effects, expected) in lines {
        assert_eq!(after(effects).get(1), *expected, "{effects:?}");
    }
    let aligned = AbstractValue::Address(BasedAddress { base: Base::Aligned(0x1000), offset: 0 });
    assert_eq!(after(&[Effect::Align { register: 7, place: 0x1000 }]).get(7), aligned);
}

/// `clone` (56 on AMD64) and `clone3` (435) may return on another stack.
#[test]
fn system_calls_may_change_the_stack() {
    for (number, sp) in [(56, AbstractValue::Unknown), (435, AbstractValue::Unknown), (57, SP)] {
        let state = after(&[constant(0, number), SYSTEM_CALL]);
        assert_eq!(
            (state.get(7), state.get(0), state.get(2)),
            (sp, AbstractValue::Unknown, AbstractValue::Unknown)
        );
        assert_eq!(state.get(1), AbstractValue::Entry(1));
    }
    assert_eq!(after(&[SYSTEM_CALL]).get(7), SP);
    // The stack of the new thread is in RSI (clone(2)).
    for (number, stack, sp) in
        [(56, 0, SP), (56, 0x1000, AbstractValue::Unknown), (435, 0, AbstractValue::Unknown)]
    {
        let state = after(&[constant(0, number), constant(4, stack), SYSTEM_CALL]);
        assert_eq!(state.get(7), sp, "{number} {stack}");
    }
}

#[test]
fn branches_limit_the_number_that_was_compared() {
    let compare = |number| Effect::CompareNumber { a: 5, number };
    let value = |effects: &[Effect], condition, is_taken| {
        let mut state = after(effects);
        assert!(state.refine(if is_taken { condition } else { condition.negated() }));
        state.get(5)
    };
    let unlimited = AbstractValue::Entry(5);
    for (condition, taken, not_taken) in [
        (Condition::Above, unlimited, AbstractValue::AtMost(7)),
        (Condition::AboveOrEqual, unlimited, AbstractValue::AtMost(6)),
        (Condition::Below, AbstractValue::AtMost(6), unlimited),
        (Condition::BelowOrEqual, AbstractValue::AtMost(7), unlimited),
        (Condition::Equal, unlimited, unlimited),
        (Condition::NotEqual, unlimited, unlimited),
        (Condition::Other, unlimited, unlimited),
    ] {
        assert_eq!(value(&[compare(7)], condition, true), taken, "{condition:?}");
        assert_eq!(value(&[compare(7)], condition, false), not_taken, "{condition:?}");
    }
    // No number is below zero.
    assert_eq!(value(&[compare(0)], Condition::Below, true), unlimited);
    // Another value was compared, or nothing that is still known.
    assert_eq!(
        value(&[compare(7), copy(5, 12, 0)], Condition::Above, false),
        AbstractValue::Entry(12)
    );
    assert_eq!(value(&[compare(7), Effect::Forget], Condition::Above, false), unlimited);
    assert_eq!(
        value(&[compare(7), Effect::Clobber(1 << 5)], Condition::Above, false),
        AbstractValue::Unknown
    );
    assert_eq!(
        value(&[compare(7), Effect::Clobber(1 << 3)], Condition::Above, false),
        AbstractValue::AtMost(7)
    );
    // An address is no index.
    assert_eq!(value(&[copy(5, 7, 0), compare(7)], Condition::Above, false), SP);
}

#[test]
fn an_unknown_number_that_equals_an_address_is_known() {
    let compared = |a, b| after(&[Effect::Clobber(1), Effect::Compare { a, b }]);
    for (condition, value) in [
        (Condition::Equal, SP),
        (Condition::NotEqual.negated(), SP),
        (Condition::Equal.negated(), AbstractValue::Unknown),
        (Condition::NotEqual, AbstractValue::Unknown),
        (Condition::Above.negated(), AbstractValue::Unknown),
    ] {
        for mut state in [compared(0, 7), compared(7, 0)] {
            assert!(state.refine(condition));
            assert_eq!((state.get(0), state.get(7)), (value, SP), "{condition:?}");
        }
    }
    let mut other = after(&[copy(0, 7, 8), Effect::Compare { a: 0, b: 7 }]);
    assert!(other.refine(Condition::NotEqual));
    assert!(!other.refine(Condition::Equal));
    let mut same = after(&[copy(0, 7, 0), Effect::Compare { a: 0, b: 7 }]);
    assert!(same.refine(Condition::Equal));
}

#[test]
fn where_paths_meet_only_what_is_true_on_both_is_known() {
    let compare = Effect::CompareNumber { a: 5, number: 7 };
    let lines: &[(&[Effect], &[Effect], AbstractValue, bool)] = &[
        (&[], &[], AbstractValue::Entry(0), false),
        (&[limit(0, 2)], &[limit(0, 5)], AbstractValue::AtMost(5), true),
        (&[limit(0, 5)], &[limit(0, 2)], AbstractValue::AtMost(5), false),
        (&[], &[Effect::Clobber(1)], AbstractValue::Unknown, true),
        (&[Effect::Clobber(1)], &[], AbstractValue::Unknown, false),
        (&[compare], &[], AbstractValue::Entry(0), true),
        (&[], &[compare], AbstractValue::Entry(0), false),
        (&[compare], &[compare], AbstractValue::Entry(0), false),
        (&[store(6, -16, 8)], &[], AbstractValue::Entry(0), true),
    ];
    for (one, other, value, has_lost) in lines {
        let mut state = after(one);
        assert_eq!(state.join(&after(other)), *has_lost, "{one:?} {other:?}");
        assert_eq!(state.get(0), *value, "{one:?} {other:?}");
    }
    let mut state = after(&[compare]);
    state.join(&after(&[]));
    assert!(state.refine(Condition::BelowOrEqual));
    assert_eq!(state.get(5), AbstractValue::Entry(5));
    let (mut state, mut local) = (after(&[]), after(&[]));
    local.doubt = Some(Unproven::UnknownEntry);
    assert!(state.join(&local) && state.doubt.is_some());
    assert!(!state.join(&local) && !local.join(&after(&[])));
}

/// A jump to another function is a tail call if the stack and the registers of the caller are as at the entry.
#[test]
fn tail_calls_have_the_callers_stack_and_registers() {
    for (effects, is_at_entry, may_be) in [
        (&[][..], true, true),
        (&[copy(7, 7, -8)], false, false),
        (&[Effect::Clobber(1 << 6)], false, true),
        (&[copy(6, 12, 0)], false, false),
        (&[Effect::Clobber(1 << 3)], true, true),
    ] {
        let state = after(effects);
        assert_eq!(state.is_at_entry(Abi::Amd64), is_at_entry, "{effects:?}");
        assert_eq!(state.may_be_at_entry(Abi::Amd64), may_be, "{effects:?}");
    }
    let abi = Abi::Aarch64Little;
    for (effect, is_at_entry, may_be) in [
        (Effect::Forget, true, true),
        (Effect::Sign(Key::A), false, false),
        (Effect::Clobber(1 << 30), false, true),
        (copy(30, 3, 0), false, false),
        (copy(29, 3, 0), false, false),
        (copy(31, 31, -16), false, false),
    ] {
        let mut state = entry(abi);
        state.apply(effect, &mut JumpTables::default());
        assert_eq!(state.is_at_entry(abi), is_at_entry, "{effect:?}");
        assert_eq!(state.may_be_at_entry(abi), may_be, "{effect:?}");
    }
}

#[test]
fn the_callers_registers_and_small_numbers_can_be_forgotten() {
    let effects =
        [copy(3, 6, 0), constant(0, 0xff), constant(1, 0x100), constant(2, -0x100), limit(4, 5)];
    let compare = Effect::CompareNumber { a: 4, number: 3 };
    let mut state = after(&[&effects[..], &[compare]].concat());
    assert!(state.holds_entry_values());
    state.widen();
    // RBP's value stays in RBX, as unwinding needs it; R12's does not.
    let known = [0, 1, 2, 3, 4, 6, 7, 12].map(|register| state.get(register));
    let big = |number| AbstractValue::Constant(number);
    let (fp, five) = (AbstractValue::Entry(6), AbstractValue::AtMost(5));
    assert_eq!(
        known,
        [AbstractValue::Unknown, big(0x100), big(-0x100), fp, five, fp, SP, AbstractValue::Unknown]
    );
    assert!(state.refine(Condition::BelowOrEqual));
    assert_eq!(state.get(4), five);
    state.forget_entry_values();
    let known = [1, 3, 6, 7].map(|register| state.get(register));
    assert_eq!(known, [big(0x100), AbstractValue::Unknown, AbstractValue::Unknown, SP]);
    assert!(!state.holds_entry_values());
}

#[test]
fn a_function_returns_with_the_stack_of_its_entry() {
    let aligned = Effect::Align { register: 7, place: 1 };
    for (effects, can_return, is_above, has_frame) in [
        (&[][..], true, false, true),
        (&[copy(7, 7, -8)], false, false, true),
        (&[copy(7, 7, 8)], false, true, true),
        (&[Effect::Clobber(1 << 7)], true, false, false),
        (&[aligned], true, false, false),
        (&[copy(6, 7, 0), aligned], true, false, true),
    ] {
        let state = after(effects);
        assert_eq!(state.can_return(), can_return, "{effects:?}");
        assert_eq!(state.is_above_entry(), is_above, "{effects:?}");
        assert_eq!(state.has_frame(Abi::Amd64), has_frame, "{effects:?}");
    }
    let mut popped = after(&[copy(7, 7, -24)]);
    popped.remove(16);
    assert_eq!(popped.get(7), AbstractValue::cfa(-16));
}

#[test]
fn states_with_another_stack_contradict_each_other() {
    let (entry, pushed) = (after(&[]), after(&[copy(7, 7, -8)]));
    let aligned = |place| after(&[Effect::Align { register: 7, place }]);
    assert!(entry.contradicts(&pushed) && pushed.contradicts(&entry));
    assert!(!entry.contradicts(&after(&[copy(6, 7, 0)])));
    assert!(!entry.contradicts(&after(&[Effect::Clobber(1 << 7)])));
    assert!(!aligned(1).contradicts(&aligned(2)) && !aligned(1).contradicts(&entry));
}

/// Registers that were written since the block's start.
#[test]
fn writes_to_the_frame_are_noted() {
    let of = RegisterSet::of;
    let mut state = after(&[]);
    state.start_block();
    state.apply(copy(3, 6, 0), &mut JumpTables::default());
    let has_written = |state: &AbstractState| state.written().meet(of(6).with(of(7)));
    assert!(!has_written(&state));
    for effect in [copy(7, 7, 0), copy(6, 6, 0), Effect::Clobber(1 << 6)] {
        state.apply(effect, &mut JumpTables::default());
        assert!(has_written(&state), "{effect:?}");
        state.start_block();
        assert!(!has_written(&state));
    }
}
