//! What is known about registers and the stack before an instruction.

use sframe_validator::Abi;

use super::effect::{Condition, Effect, NONE, Number, REGISTERS, Registers};
use super::slots::Slots;
use super::table::Tables;
use super::value::{Base, Distance, Packed, Place, Value};

/// The highest number that is not kept in loops. Jump tables, whose addresses are kept, come after the headers of the file: 64
/// bytes, and 56 for each segment.
const MOST_COUNTED: u64 = 0xff;

/// The size of AMD64's red zone in bytes (psABI 3.2.2). AArch64 has none (AAPCS64 6.4.5.1).
const RED_ZONE: i64 = 128;

/// The number of Linux's `clone3`, the same on all machines.
const CLONE3: Value = Value::Constant(435);

/// What is known before an instruction.
#[derive(Clone, Debug)]
pub(super) struct State {
    /// The value of SP at the entry.
    top: Packed,
    sp: Number,
    ra: Number,
    /// SP, FP and RA.
    frame: Registers,
    /// The number of bytes below SP that signal handlers leave alone.
    pub(super) red_zone: i64,
    registers: [Packed; REGISTERS],
    /// The registers about which something is known.
    known: Registers,
    /// The registers that were written in the block.
    written: Registers,
    /// A call within the function leads here: CFI may describe the frame of that call, or the one that it was made in.
    pub(super) is_local: bool,
    pub(super) slots: Slots,
    /// What the last comparison compared.
    compared: Compared,
    /// The registers that were compared, and [`Registers::COMPARED`] if there are any.
    in_comparison: Registers,
}

/// What was compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum Compared {
    #[default]
    Nothing,
    Registers(Number, Number),
    Number(Number, u32),
}

/// The number of a register of the machine.
pub(super) fn number(register: sframe_validator::unwind::Register) -> Number {
    u8::try_from(register.0).unwrap_or(NONE)
}

/// How many registers hold whole numbers or addresses, SP among them: those with the lowest numbers. What instructions do
/// to others is not followed.
const fn general_registers(abi: Abi) -> Number {
    if abi.is_aarch64() { 32 } else { 16 }
}

impl State {
    /// The state at the entry of a function. On AMD64 the return address is on top of the stack (psABI 3.2.2).
    pub(super) fn entry(abi: Abi) -> State {
        let (mut registers, mut known) = ([Packed::UNKNOWN; REGISTERS], Registers::default());
        for (number, value) in (0..general_registers(abi)).zip(&mut registers) {
            *value = Value::Entry(number).into();
            known = known.with(Registers::of(number));
        }
        let (sp, ra) = (number(abi.sp()), number(abi.ra()));
        let frame = [sp, number(abi.fp()), ra].map(Registers::of);
        let frame = frame.into_iter().fold(Registers::default(), Registers::with);
        let pushed = i32::from(abi.fixed_ra_offset());
        let top = Packed::from(Value::cfa(pushed));
        let (written, slots, compared, in_comparison) = Default::default();
        let mut state = State {
            top,
            sp,
            ra,
            frame,
            red_zone: if abi.is_aarch64() { 0 } else { RED_ZONE },
            registers,
            known,
            written,
            is_local: false,
            slots,
            compared,
            in_comparison,
        };
        state.put(sp, top);
        if pushed != 0 {
            state.slots.store(top, 8, Value::Entry(ra).into());
            state.put(ra, Packed::UNKNOWN);
        }
        state
    }

    /// Whether nothing but the function overwrites the 8 bytes at an address: they are not below the stack.
    pub(super) fn protects(&self, address: Packed) -> bool {
        address.distance_from(self.sp()).is_none_or(|distance| distance >= -self.red_zone)
    }

    /// What a register holds.
    pub(super) fn get(&self, register: Number) -> Value {
        self.packed(register).into()
    }

    /// What a register holds, packed.
    pub(super) fn packed(&self, register: Number) -> Packed {
        self.registers.get(usize::from(register)).copied().unwrap_or(Packed::UNKNOWN)
    }

    #[inline]
    fn set(&mut self, register: Number, value: Value) {
        self.put(register, value.into());
    }

    #[inline]
    fn put(&mut self, register: Number, value: Packed) {
        self.learn(register, value);
        if self.in_comparison.meet(Registers::of(register)) {
            self.compare(Compared::Nothing);
        }
    }

    /// Replaces what is known about the content of a register.
    fn learn(&mut self, register: Number, value: Packed) {
        let Some(known) = self.registers.get_mut(usize::from(register)) else { return };
        *known = value;
        let this = Registers::of(register);
        self.written = self.written.with(this);
        self.known = match value.is_unknown() {
            true => self.known.without(this),
            false => self.known.with(this),
        };
    }

    /// Notes what was compared.
    fn compare(&mut self, compared: Compared) {
        self.compared = compared;
        self.in_comparison = match compared {
            Compared::Nothing => Registers::default(),
            Compared::Registers(a, b) => {
                Registers::of(a).with(Registers::of(b)).with(Registers::COMPARED)
            }
            Compared::Number(a, _) => Registers::of(a).with(Registers::COMPARED),
        };
    }

    /// Whether effects on these registers may change anything: see [`Effect::subjects`].
    #[inline]
    pub(super) fn concerns(&self, subjects: Registers) -> bool {
        subjects.meet(self.known.with(self.in_comparison).with(Registers::ALWAYS))
    }

    /// What SP holds.
    pub(super) fn sp(&self) -> Packed {
        self.packed(self.sp)
    }

    /// Forgets which registers were written.
    pub(super) fn start_block(&mut self) {
        self.written = Registers::default();
    }

    /// Whether SP, FP or RA was written in the block, even with what it held before.
    pub(super) fn has_written_frame(&self) -> bool {
        self.written.meet(self.frame)
    }

    /// The address `offset` bytes from the value of `base`; without a base, the offset itself.
    fn address(&self, base: Number, offset: i32) -> Packed {
        let base = if base == NONE { Value::Constant(0).into() } else { self.packed(base) };
        base.plus(i64::from(offset))
    }

    /// Applies the effects of an instruction.
    #[inline]
    pub(super) fn apply_all(&mut self, effects: &[Effect], tables: &mut Tables) {
        for effect in effects {
            self.apply(*effect, tables);
        }
    }

    pub(super) fn apply(&mut self, effect: Effect, tables: &mut Tables) {
        match effect {
            Effect::Copy { to, from, plus } => {
                self.put(to, self.packed(from).plus(i64::from(plus)));
            }
            Effect::Constant { to, value } => self.set(to, Value::Constant(value)),
            Effect::Clobber(set) => self.clobber(set),
            Effect::Forget => self.compare(Compared::Nothing),
            Effect::Narrow { to, from, most } => {
                let value = match self.get(from) {
                    Value::Constant(number) => Value::Constant(number & i64::from(most)),
                    Value::AtMost(number) => Value::AtMost(number.min(most)),
                    _ if most < u32::MAX => Value::AtMost(most),
                    _ => Value::Unknown,
                };
                self.set(to, value);
            }
            Effect::Extend { to, from } => {
                let value = match self.get(from) {
                    Value::Constant(number) => Value::Constant(number << 32 >> 32),
                    // A number that is not negative remains as it is.
                    Value::AtMost(most) if i32::try_from(most).is_ok() => Value::AtMost(most),
                    Value::Element(element) => tables.extended(element),
                    _ => Value::Unknown,
                };
                self.set(to, value);
            }
            Effect::Scale { to, index, size } => {
                let most = self.get(index).most();
                self.set(to, Value::Distance(Distance { size, most }));
            }
            Effect::Add { to, a, b, shift, signed } => {
                let sum = add(self.get(a), self.get(b), shift, signed, tables);
                self.set(to, sum);
            }
            Effect::Subtract { to, a, b } => {
                let value = match self.get(b) {
                    Value::Constant(number) => self.get(a).plus(number.wrapping_neg()),
                    _ => Value::Unknown,
                };
                self.set(to, value);
            }
            Effect::Limit { to, most } => self.set(to, Value::AtMost(most)),
            Effect::Align { register, place } => {
                let base = Base::Aligned(place);
                self.set(register, Value::Address(Place { base, offset: 0 }));
            }
            Effect::Load { to, base, offset } => {
                let address = self.address(base, offset);
                let value = match address.into() {
                    // A pointer in the file, which a jump may use.
                    Value::Constant(address) => {
                        tables.element(address.cast_unsigned(), 8, false, Some(0)).into()
                    }
                    _ => self.slots.load(address),
                };
                self.put(to, value);
            }
            Effect::Element { to, base, offset, index, scale, size, signed } => {
                let base = self.address(base, offset).into();
                let value = match array(base, self.get(index), scale, size) {
                    Some((start, most)) => {
                        tables.element(start.cast_unsigned(), size, signed, most)
                    }
                    None => Value::Unknown,
                };
                self.set(to, value);
            }
            Effect::Store { from, base, offset, size } => {
                self.slots.store(self.address(base, offset), size, self.packed(from));
            }
            Effect::Fill { base } => self.slots.fill(self.packed(base)),
            Effect::Call(set) => {
                self.clobber(set);
                self.slots.lose_below(self.sp());
            }
            Effect::SystemCall { number, clone, clobbers } => {
                if [Value::Constant(clone.into()), CLONE3].contains(&self.get(number)) {
                    self.set(self.sp, Value::Unknown);
                }
                self.clobber(clobbers);
            }
            Effect::Compare { a, b } => self.compare(Compared::Registers(a, b)),
            Effect::CompareNumber { a, number } => self.compare(Compared::Number(a, number)),
            Effect::Sign(key) => {
                let signed = match self.get(self.ra) {
                    Value::Entry(register) if register == self.ra => Value::Signed(key),
                    _ => Value::Unknown,
                };
                self.set(self.ra, signed);
            }
            Effect::Authenticate(key) => {
                let plain = match self.get(self.ra) {
                    Value::Signed(with) if with == key => Value::Entry(self.ra),
                    _ => Value::Unknown,
                };
                self.set(self.ra, plain);
            }
            Effect::Strip => {
                if let Value::Signed(_) = self.get(self.ra) {
                    self.set(self.ra, Value::Entry(self.ra));
                }
            }
        }
    }

    fn clobber(&mut self, set: u32) {
        let set = Registers::of_set(set);
        let mut rest = set.and(self.known);
        while let Some(register) = rest.pop() {
            if let Some(known) = self.registers.get_mut(usize::from(register)) {
                *known = Packed::UNKNOWN;
            }
        }
        self.known = self.known.without(set);
        self.written = self.written.with(set);
        if self.in_comparison.meet(set) {
            self.compare(Compared::Nothing);
        }
    }

    /// Whether a conditional branch says something about the numbers compared.
    pub(super) const fn learns_from(&self, condition: Condition) -> bool {
        match condition {
            Condition::Equal | Condition::NotEqual => {
                matches!(self.compared, Compared::Registers(..))
            }
            Condition::Other => false,
            _ => matches!(self.compared, Compared::Number(..)),
        }
    }

    /// Adds what a conditional branch says about the numbers compared. Returns whether it can go this way.
    pub(super) fn refine(&mut self, condition: Condition, is_taken: bool) -> bool {
        match (condition, is_taken) {
            (Condition::Equal, true) | (Condition::NotEqual, false) => return self.equal(),
            (Condition::Above, false) | (Condition::BelowOrEqual, true) => self.at_most(false),
            (Condition::AboveOrEqual, false) | (Condition::Below, true) => self.at_most(true),
            _ => {}
        }
        true
    }

    /// After a branch that is taken only if the numbers compared are equal: if one is known, so is the other. Returns
    /// whether they can be equal.
    fn equal(&mut self) -> bool {
        let Compared::Registers(a, b) = self.compared else { return true };
        match (self.get(a), self.get(b)) {
            (Value::Address(a), Value::Address(b)) => a.base != b.base || a.offset == b.offset,
            (known @ Value::Address(_), Value::Unknown) => {
                self.set(b, known);
                true
            }
            (Value::Unknown, known @ Value::Address(_)) => {
                self.set(a, known);
                true
            }
            _ => true,
        }
    }

    /// After a branch that is taken only if the number compared is at most the one that it is compared with, or less if
    /// `less`.
    fn at_most(&mut self, less: bool) {
        let Compared::Number(register, number) = self.compared else { return };
        let Some(most) = number.checked_sub(u32::from(less)) else { return };
        if matches!(self.get(register), Value::Unknown | Value::Entry(_) | Value::AtMost(_)) {
            self.set(register, Value::AtMost(most));
        }
    }

    /// Keeps only what is also true in `other`. Returns whether something was lost.
    pub(super) fn join(&mut self, other: &State) -> bool {
        let mut changed = self.slots.join(&other.slots);
        let mut rest = self.known;
        while let Some(register) = rest.pop() {
            let (value, other) = (self.packed(register), other.packed(register));
            if value != other {
                let joined = value.join(other);
                changed |= joined != value;
                self.learn(register, joined);
            }
        }
        if self.compared != other.compared && self.compared != Compared::Nothing {
            self.compare(Compared::Nothing);
            changed = true;
        }
        changed |= other.is_local && !self.is_local;
        self.is_local |= other.is_local;
        changed
    }

    /// Whether the stack and the registers of the caller are as at the entry: a jump to another function is a tail call.
    pub(super) fn is_at_entry(&self, abi: Abi) -> bool {
        let fp = number(abi.fp());
        let ra_is_kept = match abi.fixed_ra_offset() {
            0 => self.get(self.ra) == Value::Entry(self.ra),
            _ => true,
        };
        self.sp() == self.top && self.get(fp) == Value::Entry(fp) && ra_is_kept
    }

    /// Whether the state may be that at the function's entry: registers of which nothing is known may be unchanged.
    pub(super) fn may_be_at_entry(&self, abi: Abi) -> bool {
        let may_hold = |register: Number| {
            let value = self.get(register);
            value == Value::Unknown || value == Value::Entry(register)
        };
        self.sp() == self.top
            && may_hold(number(abi.fp()))
            && (abi.fixed_ra_offset() != 0 || may_hold(self.ra))
    }

    /// Forgets which registers still hold the caller's values. SP, a frame pointer and what was saved stay known: code
    /// that is entered from several places finds the same frame.
    pub(super) fn forget_callers(&mut self) {
        let mut rest = self.known;
        while let Some(register) = rest.pop() {
            if self.packed(register).is_callers() {
                self.learn(register, Packed::UNKNOWN);
            }
        }
    }

    /// Forgets what a loop rarely preserves and unwinding rarely needs: small numbers, the content of the caller's registers other
    /// than FP and RA, and the last comparison. Otherwise the loop is executed again when the jump back loses them.
    pub(super) fn widen(&mut self) {
        let mut rest = self.known.without(self.frame);
        while let Some(register) = rest.pop() {
            let is_kept = match self.get(register) {
                Value::Entry(entry) => self.frame.meet(Registers::of(entry)),
                Value::Constant(number) => number.unsigned_abs() > MOST_COUNTED,
                _ => true,
            };
            if !is_kept {
                self.learn(register, Packed::UNKNOWN);
            }
        }
        self.compare(Compared::Nothing);
    }

    /// Whether there is anything to be forgotten in this way.
    pub(super) fn holds_callers(&self) -> bool {
        let mut rest = self.known;
        core::iter::from_fn(|| rest.pop()).any(|register| self.packed(register).is_callers())
    }

    /// Removes bytes from the stack.
    pub(super) fn remove(&mut self, bytes: i64) {
        self.put(self.sp, self.sp().plus(bytes));
    }

    /// Whether more was removed from the stack than the function stored there.
    pub(super) fn is_above_entry(&self) -> bool {
        match (self.sp().place(), self.top.place()) {
            (Some(sp), Some(top)) => sp.base == top.base && sp.offset > top.offset,
            _ => false,
        }
    }

    /// Whether the stack is as at the entry, as far as that is known.
    pub(super) fn can_return(&self) -> bool {
        match self.sp().place() {
            Some(Place { base: Base::Cfa, .. }) => self.sp() == self.top,
            _ => true,
        }
    }

    /// Whether the distance from SP or FP to the CFA is known.
    pub(super) fn has_frame(&self, abi: Abi) -> bool {
        let is_in_frame =
            |value: Packed| matches!(value.place(), Some(Place { base: Base::Cfa, .. }));
        is_in_frame(self.sp()) || is_in_frame(self.packed(number(abi.fp())))
    }

    /// Whether the stack pointers certainly differ, so that no correct program comes to a place in both states. Other
    /// registers may differ: FP can hold anything once it is saved.
    pub(super) fn contradicts(&self, other: &State) -> bool {
        if self.sp() == other.sp() {
            return false;
        }
        match (self.sp().place(), other.sp().place()) {
            (Some(a), Some(b)) => a.base == b.base && a.offset != b.offset,
            _ => false,
        }
    }
}

/// The start of the array that has an element of `size` bytes at `base + index * scale`, and the element's maximum index.
fn array(base: Value, index: Value, scale: u8, size: u8) -> Option<(i64, Option<u32>)> {
    match (base, index) {
        (Value::Constant(start), Value::Distance(distance))
        | (Value::Distance(distance), Value::Constant(start))
            if scale == 1 && distance.size == size =>
        {
            Some((start, distance.most))
        }
        (Value::Constant(start), _) if scale == size => Some((start, index.most())),
        _ => None,
    }
}

fn add(a: Value, b: Value, shift: u8, signed: bool, tables: &mut Tables) -> Value {
    match (a, b) {
        (Value::Constant(base), Value::Element(table))
        | (Value::Element(table), Value::Constant(base)) => {
            tables.target(table, base.cast_unsigned(), shift, signed)
        }
        (value, Value::Constant(number)) if shift == 0 => value.plus(number),
        (Value::Constant(number), value) if shift == 0 => value.plus(number),
        _ => Value::Unknown,
    }
}
