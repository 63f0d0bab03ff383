//! The abstract state before an instruction, and the join of two of them.

mod transfer;

use sframe_validator::Abi;

use super::conventions::{Conventions, SignalReturn};
use super::effect::{
    Effect, FIRST_VECTOR, KEYS, NO_REGISTER, REGISTERS, RegisterNumber, RegisterSet,
};
use super::stack::AbstractStack;
use super::unproven::Unproven;
use super::value::{AbstractValue, Base, BasedAddress, PackedValue};

/// The highest constant that widening drops. Jump tables, whose addresses are kept, come after the headers of the file:
/// 64 bytes, and 56 for each segment.
const MAX_COUNTER: u64 = 0xff;

/// An abstract state: a value for each register, and the stack. It stands for all concrete states for which what it says
/// is true.
#[derive(Clone, Debug)]
pub(super) struct AbstractState {
    /// The value of SP at the entry.
    entry_sp: PackedValue,
    sp: RegisterNumber,
    fp: RegisterNumber,
    ra: RegisterNumber,
    /// SP, FP and RA.
    frame: RegisterSet,
    /// The registers that a function keeps for its caller, among them FP and RA.
    kept: RegisterSet,
    /// The number of bytes below SP that signal handlers leave alone.
    pub(super) red_zone: i64,
    registers: [PackedValue; REGISTERS],
    /// The registers whose values are not the top.
    known: RegisterSet,
    /// The kept registers that certainly do not hold their entry values: these were saved, then the registers were overwritten.
    overwritten: RegisterSet,
    /// The registers that were written in the block.
    written: RegisterSet,
    /// A row that this contradicts may be right. A call within the function leads here: CFI may describe the frame of that
    /// call, or the one that it was made in. Or a trap is here after a call: compilers put one where a call does not return.
    pub(super) doubt: Option<Unproven>,
    /// Where the function is left, SP is what it was at the entry. What else it is set to is another stack then.
    pub(super) returns_to_own_stack: bool,
    /// The last system call does not return: no instruction follows.
    pub(super) has_ended: bool,
    pub(super) stack: AbstractStack,
    /// The operands of the last comparison, whose result the flags hold.
    compared: Compared,
    /// The registers that were compared, and [`RegisterSet::COMPARED`] if there are any.
    in_comparison: RegisterSet,
}

/// The operands of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum Compared {
    #[default]
    Nothing,
    Registers(RegisterNumber, RegisterNumber),
    Number(RegisterNumber, u32),
}

/// The number of a register of the machine.
pub(super) fn number(register: sframe_validator::unwind::Register) -> RegisterNumber {
    // V8 to V15 (DWARF for the Arm 64-bit Architecture, 4.1). AMD64 has no registers of these numbers whose values are followed.
    const V8: RegisterNumber = 72;
    let number = u8::try_from(register.0).unwrap_or(NO_REGISTER);
    match number.checked_sub(V8) {
        Some(vector @ 0..8) => FIRST_VECTOR.saturating_add(vector),
        _ => number,
    }
}

impl AbstractState {
    /// The state at the entry of a function. On AMD64 the return address is on top of the stack (psABI 3.2.2).
    pub(super) fn entry(abi: Abi, conventions: &Conventions) -> AbstractState {
        let (mut registers, mut known) =
            ([PackedValue::UNKNOWN; REGISTERS], RegisterSet::default());
        let callee_saved = conventions.callee_saved.iter().map(|register| number(*register));
        let vectors = callee_saved.clone().filter(|number| *number >= FIRST_VECTOR);
        for number in (0..conventions.general_registers).chain(vectors) {
            if let Some(value) = registers.get_mut(usize::from(number)) {
                *value = AbstractValue::Entry(number).into();
                known = known.with(RegisterSet::of(number));
            }
        }
        let (sp, fp, ra) = (number(abi.sp()), number(abi.fp()), number(abi.ra()));
        let frame = [sp, fp, ra].map(RegisterSet::of);
        let frame = frame.into_iter().fold(RegisterSet::default(), RegisterSet::with);
        let kept = callee_saved
            .map(RegisterSet::of)
            .fold(frame.without(RegisterSet::of(sp)), RegisterSet::with);
        let pushed = i32::from(abi.fixed_ra_offset());
        let entry_sp = PackedValue::from(AbstractValue::cfa(pushed));
        let (overwritten, written, stack, compared, in_comparison) = Default::default();
        let mut state = AbstractState {
            entry_sp,
            sp,
            fp,
            ra,
            frame,
            kept,
            red_zone: conventions.red_zone,
            registers,
            known,
            overwritten,
            written,
            doubt: None,
            returns_to_own_stack: false,
            has_ended: false,
            stack,
            compared,
            in_comparison,
        };
        state.put(sp, entry_sp);
        if pushed != 0 {
            state.stack.store(entry_sp, 8, AbstractValue::Entry(ra).into());
            state.learn(ra, PackedValue::UNKNOWN);
        }
        state
    }

    /// Turns the state at an entry into the one after the return of a signal handler: SP is at the context that the kernel
    /// saved, and the frame is the interrupted one.
    pub(super) fn become_signal_return(&mut self, conventions: &Conventions) {
        let sp = BasedAddress { base: Base::SignalFrame, offset: 0 };
        let sp = PackedValue::from(AbstractValue::Address(sp));
        self.forget_entry_values();
        self.stack = AbstractStack::unknown();
        self.entry_sp = sp;
        self.learn(self.sp, sp);
        let SignalReturn { saved_sp, saved_pc, saved_fp, .. } = conventions.signal_return;
        let saved = [
            (saved_sp, AbstractValue::CFA),
            (saved_pc, AbstractValue::Entry(self.ra)),
            (saved_fp, AbstractValue::Entry(self.fp)),
        ];
        for (offset, value) in saved {
            self.stack.store(sp.plus(offset.into()), 8, value.into());
        }
        // The link register of AArch64 has the address of this very code.
        self.learn(self.ra, PackedValue::UNKNOWN);
        self.overwritten = RegisterSet::of(self.ra);
    }

    /// Whether nothing but the function overwrites the 8 bytes at an address: they are not below the stack.
    pub(super) fn protects(&self, address: PackedValue) -> bool {
        address.distance_from(self.sp()).is_none_or(|distance| distance >= -self.red_zone)
    }

    /// What a register holds.
    pub(super) fn get(&self, register: RegisterNumber) -> AbstractValue {
        self.packed(register).into()
    }

    /// What a register holds, packed.
    pub(super) fn packed(&self, register: RegisterNumber) -> PackedValue {
        let value = self.registers.get(usize::from(register)).copied();
        match value.unwrap_or(PackedValue::UNKNOWN) {
            value if value.is_unknown() && self.overwritten.meet(RegisterSet::of(register)) => {
                PackedValue::OVERWRITTEN
            }
            value => value,
        }
    }

    #[inline]
    fn set(&mut self, register: RegisterNumber, value: AbstractValue) {
        self.put(register, value.into());
    }

    /// Overwrites a register. Of kept ones it stays known that they hold something else than their entry values.
    #[inline]
    fn put(&mut self, register: RegisterNumber, value: PackedValue) {
        let value = if register == self.sp { as_stack(value) } else { value };
        let this = RegisterSet::of(register);
        if self.kept.meet(this) {
            if self.is_own(register, value) {
                self.overwritten = self.overwritten.without(this);
            } else if !self.overwritten.meet(this) && self.is_saved_elsewhere(register) {
                self.overwritten = self.overwritten.with(this);
            }
        } else if register == self.sp && value.offset_from_cfa().is_none() {
            // What is popped from another stack may be anything.
            self.overwritten = RegisterSet::default();
        }
        self.replace(register, value);
    }

    /// Overwrites a register with what a slot holds. If that is not known, it may be the entry value.
    fn load(&mut self, register: RegisterNumber, value: PackedValue) {
        self.overwritten = self.overwritten.without(RegisterSet::of(register));
        self.replace(register, value);
    }

    /// Overwrites a register, of which nothing else is known then.
    fn replace(&mut self, register: RegisterNumber, value: PackedValue) {
        self.learn(register, value);
        if self.in_comparison.meet(RegisterSet::of(register)) {
            self.compare(Compared::Nothing);
        }
    }

    /// Whether a value is the entry value of the register, which may be signed if it is the return address.
    fn is_own(&self, register: RegisterNumber, value: PackedValue) -> bool {
        match value.into() {
            AbstractValue::Entry(entry) => entry == register,
            AbstractValue::Signed(_) => register == self.ra,
            _ => false,
        }
    }

    /// Whether the entry value of a kept register is in a slot or in another register. Functions restore it from there, as long
    /// as they have no other stack.
    fn is_saved_elsewhere(&self, register: RegisterNumber) -> bool {
        let is_saved = |value: AbstractValue| {
            let value = PackedValue::from(value);
            let mut rest = self.known.without(RegisterSet::of(register));
            self.stack.holds(value)
                || core::iter::from_fn(|| rest.pop()).any(|other| self.packed(other) == value)
        };
        let is_signed = || KEYS.iter().any(|key| is_saved(AbstractValue::Signed(*key)));
        self.sp().offset_from_cfa().is_some()
            && (is_saved(AbstractValue::Entry(register)) || register == self.ra && is_signed())
    }

    /// Replaces the value of a register; comparisons of it keep their meaning.
    fn learn(&mut self, register: RegisterNumber, value: PackedValue) {
        let Some(known) = self.registers.get_mut(usize::from(register)) else { return };
        // That it was overwritten is known of the register alone.
        let value = if value == PackedValue::OVERWRITTEN { PackedValue::UNKNOWN } else { value };
        *known = value;
        let this = RegisterSet::of(register);
        self.written = self.written.with(this);
        self.known = match value.is_unknown() {
            true => self.known.without(this),
            false => self.known.with(this),
        };
    }

    /// Replaces the operands of the last comparison.
    fn compare(&mut self, compared: Compared) {
        self.compared = compared;
        self.in_comparison = match compared {
            Compared::Nothing => RegisterSet::default(),
            Compared::Registers(a, b) => {
                RegisterSet::of(a).with(RegisterSet::of(b)).with(RegisterSet::COMPARED)
            }
            Compared::Number(a, _) => RegisterSet::of(a).with(RegisterSet::COMPARED),
        };
    }

    /// Whether an effect with these subjects may change the state: see [`Effect::subjects`]. Of SP, FP, RA and kept registers,
    /// it becomes known that they were overwritten.
    #[inline]
    pub(super) fn concerns(&self, subjects: RegisterSet) -> bool {
        let always = self.frame.with(RegisterSet::ALWAYS);
        let open = self.kept.without(self.overwritten);
        subjects.meet(self.known.with(self.in_comparison).with(always).with(open))
    }

    /// What SP holds.
    pub(super) fn sp(&self) -> PackedValue {
        self.packed(self.sp)
    }

    /// Forgets which registers were written.
    pub(super) fn start_block(&mut self) {
        self.written = RegisterSet::default();
    }

    /// The registers that were written in the block, even with what they held before.
    pub(super) const fn written(&self) -> RegisterSet {
        self.written
    }

    /// Whether an effect may change what is known of `watched` registers, and of the stack if that is watched. What else a register
    /// holds once it is overwritten does not matter, if only callee-saved ones other than FP and RA are.
    pub(super) fn may_change(&self, effect: &Effect, watched: RegisterSet) -> bool {
        let may_restore = match *effect {
            Effect::Load { .. } => true,
            Effect::Copy { to, from, plus } => self.is_own(to, self.packed(from)) && plus == 0,
            _ => false,
        };
        let settled = match may_restore || watched == RegisterSet::ALL {
            true => RegisterSet::default(),
            false => self.kept.without(self.frame).and(self.overwritten),
        };
        effect.changes().meet(watched.without(settled))
    }

    /// The kept registers that certainly do not hold their entry values.
    pub(super) const fn overwritten(&self) -> RegisterSet {
        self.overwritten
    }

    /// The kept registers with a known value, apart from FP and RA.
    pub(super) const fn known_callee_saved(&self) -> RegisterSet {
        self.kept.without(self.frame).and(self.known)
    }

    /// The kept registers that hold their entry values.
    pub(super) fn restored(&self) -> RegisterSet {
        let mut rest = self.kept.and(self.known);
        let own = core::iter::from_fn(|| rest.pop())
            .filter(|register| self.is_own(*register, self.packed(*register)));
        own.map(RegisterSet::of).fold(RegisterSet::default(), RegisterSet::with)
    }

    /// Joins another state: keeps only what is also true in `other`. Returns whether the state changed.
    pub(super) fn join(&mut self, other: &AbstractState) -> bool {
        let mut changed = self.stack.join(&other.stack);
        let mut rest = self.known;
        while let Some(register) = rest.pop() {
            let (value, other) = (self.packed(register), other.packed(register));
            if value != other {
                let joined = value.join(other);
                changed |= joined != value;
                self.learn(register, joined);
            }
        }
        let overwritten = self.overwritten.and(other.overwritten);
        changed |= overwritten != self.overwritten;
        self.overwritten = overwritten;
        if self.compared != other.compared && self.compared != Compared::Nothing {
            self.compare(Compared::Nothing);
            changed = true;
        }
        self.returns_to_own_stack &= other.returns_to_own_stack;
        changed |= other.doubt > self.doubt;
        self.doubt = self.doubt.max(other.doubt);
        changed
    }

    /// Whether the stack and the registers of the caller are as at the entry: a jump to another function is a tail call.
    pub(super) fn is_at_entry(&self, abi: Abi) -> bool {
        let fp = number(abi.fp());
        let ra_is_kept = match abi.fixed_ra_offset() {
            0 => self.get(self.ra) == AbstractValue::Entry(self.ra),
            _ => true,
        };
        self.sp() == self.entry_sp && self.get(fp) == AbstractValue::Entry(fp) && ra_is_kept
    }

    /// Whether SP is what it was at the entry.
    pub(super) fn is_on_entry_stack(&self) -> bool {
        self.sp() == self.entry_sp
    }

    /// Whether the state may be that at the function's entry: registers of which nothing is known may be unchanged.
    pub(super) fn may_be_at_entry(&self, abi: Abi) -> bool {
        let may_hold = |register: RegisterNumber| {
            let value = self.get(register);
            value == AbstractValue::Unknown || value == AbstractValue::Entry(register)
        };
        self.sp() == self.entry_sp
            && may_hold(number(abi.fp()))
            && (abi.fixed_ra_offset() != 0 || may_hold(self.ra))
    }

    /// Forgets which registers still hold their entry values. SP, a frame pointer and what was saved stay known: code
    /// that is entered from several places finds the same frame.
    pub(super) fn forget_entry_values(&mut self) {
        let mut rest = self.known;
        while let Some(register) = rest.pop() {
            if self.packed(register).depends_on_entry() {
                self.learn(register, PackedValue::UNKNOWN);
            }
        }
        self.overwritten = RegisterSet::default();
    }

    /// Widens the state at the head of a loop: forgets at once what a loop rarely preserves and unwinding rarely needs,
    /// so that the back edge does not take it away step by step. These are small constants, entry values other than those
    /// of FP and RA, and the last comparison.
    pub(super) fn widen(&mut self) {
        let mut rest = self.known.without(self.frame);
        while let Some(register) = rest.pop() {
            let is_kept = match self.get(register) {
                AbstractValue::Entry(entry) => self.frame.meet(RegisterSet::of(entry)),
                AbstractValue::Constant(number) => number.unsigned_abs() > MAX_COUNTER,
                _ => true,
            };
            if !is_kept {
                self.learn(register, PackedValue::UNKNOWN);
            }
        }
        self.compare(Compared::Nothing);
    }

    /// Whether a register still holds an entry value.
    pub(super) fn holds_entry_values(&self) -> bool {
        let mut rest = self.known;
        self.overwritten != RegisterSet::default()
            || core::iter::from_fn(|| rest.pop())
                .any(|register| self.packed(register).depends_on_entry())
    }

    /// Removes bytes from the stack.
    pub(super) fn remove(&mut self, bytes: i64) {
        self.put(self.sp, self.sp().plus(bytes));
    }

    /// Whether more was removed from the stack than the function stored there.
    pub(super) fn is_above_entry(&self) -> bool {
        match (self.sp().address(), self.entry_sp.address()) {
            (Some(sp), Some(entry)) => sp.base == entry.base && sp.offset > entry.offset,
            _ => false,
        }
    }

    /// Whether the stack is as at the entry, as far as that is known.
    pub(super) fn can_return(&self) -> bool {
        match self.sp().address() {
            Some(BasedAddress { base: Base::Cfa | Base::Scalable(_), .. }) => {
                self.sp() == self.entry_sp
            }
            _ => true,
        }
    }

    /// Whether the distance from SP or FP to the CFA is known.
    pub(super) fn has_frame(&self, abi: Abi) -> bool {
        let is_in_frame = |value: PackedValue| {
            matches!(value.address(), Some(BasedAddress { base: Base::Cfa, .. }))
        };
        is_in_frame(self.sp()) || is_in_frame(self.packed(number(abi.fp())))
    }

    /// Whether the stack pointers certainly differ, so that no correct program comes to an instruction in both states. Other
    /// registers may differ: FP can hold anything once it is saved.
    pub(super) fn contradicts(&self, other: &AbstractState) -> bool {
        if self.sp() == other.sp() {
            return false;
        }
        match (self.sp().address(), other.sp().address()) {
            (Some(a), Some(b)) => a.base == b.base && a.offset != b.offset,
            _ => false,
        }
    }
}

/// A value to which SP is set: one of the caller's is the address of a stack.
fn as_stack(value: PackedValue) -> PackedValue {
    match value.into() {
        AbstractValue::Entry(register) => {
            let base = Base::OtherStack(register);
            AbstractValue::Address(BasedAddress { base, offset: 0 }).into()
        }
        _ => value,
    }
}
