//! Transfer functions: what effects, and the conditions of branches, do to an abstract state.

use super::{AbstractState, Compared};
use crate::code::effect::{
    Condition, Effect, Extension, NO_REGISTER, RegisterNumber, RegisterSet, SCRATCH,
};
use crate::code::jump_table::JumpTables;
use crate::code::value::{AbstractValue, Base, BasedAddress, PackedValue, ScaledIndex};

/// The number of Linux's `clone3`, the same on all machines.
const CLONE3: AbstractValue = AbstractValue::Constant(435);

impl AbstractState {
    /// The address `offset` bytes from the value of `base`; without a base, the offset itself.
    fn address(&self, base: RegisterNumber, offset: i32) -> PackedValue {
        let base =
            if base == NO_REGISTER { AbstractValue::Constant(0).into() } else { self.packed(base) };
        base.plus(i64::from(offset))
    }

    /// Applies the transfer function of an instruction: its effects, one after the other.
    #[inline]
    pub(in crate::code) fn apply_all(&mut self, effects: &[Effect], tables: &mut JumpTables) {
        for effect in effects {
            self.apply(*effect, tables);
        }
    }

    /// Applies the transfer function of an effect.
    pub(in crate::code) fn apply(&mut self, effect: Effect, tables: &mut JumpTables) {
        match effect {
            // An instruction that loads several registers holds the content of a slot there.
            Effect::Copy { to, from: SCRATCH, plus: 0 } => self.load(to, self.packed(SCRATCH)),
            Effect::Copy { to, from, plus } => {
                self.put(to, self.packed(from).plus(i64::from(plus)));
            }
            Effect::AddPredicates { to, from, predicates } => {
                self.set(to, self.get(from).plus_predicates(predicates));
            }
            Effect::Constant { to, value } => self.set(to, AbstractValue::Constant(value)),
            Effect::Clobber(set) => self.clobber(set),
            Effect::Forget => self.compare(Compared::Nothing),
            Effect::Narrow { to, from, most } => {
                let value = match self.get(from) {
                    AbstractValue::Constant(number) => {
                        AbstractValue::Constant(number & i64::from(most))
                    }
                    AbstractValue::AtMost(number) => AbstractValue::AtMost(number.min(most)),
                    _ if most < u32::MAX => AbstractValue::AtMost(most),
                    _ => AbstractValue::Unknown,
                };
                self.set(to, value);
            }
            Effect::Extend { to, from } => {
                let value = match self.get(from) {
                    AbstractValue::Constant(number) => AbstractValue::Constant(number << 32 >> 32),
                    // A number that is not negative remains as it is.
                    AbstractValue::AtMost(most) if i32::try_from(most).is_ok() => {
                        AbstractValue::AtMost(most)
                    }
                    AbstractValue::Element(element) => tables.extended(element),
                    _ => AbstractValue::Unknown,
                };
                self.set(to, value);
            }
            Effect::Scale { to, index, size } => {
                let most = self.get(index).most();
                self.set(to, AbstractValue::ScaledIndex(ScaledIndex { size, most }));
            }
            Effect::Add { to, a, b, shift, extension } => {
                let sum = add(self.get(a), self.get(b), shift, extension, tables);
                self.set(to, sum);
            }
            Effect::Subtract { to, a, b } => {
                let value = match self.get(b) {
                    AbstractValue::Constant(number) => self.get(a).plus(number.wrapping_neg()),
                    _ => AbstractValue::Unknown,
                };
                self.set(to, value);
            }
            Effect::Limit { to, most } => self.set(to, AbstractValue::AtMost(most)),
            Effect::Align { register, place } => {
                let base = Base::Aligned(place);
                self.set(register, AbstractValue::Address(BasedAddress { base, offset: 0 }));
            }
            Effect::Load { to, base, offset } => {
                let address = self.address(base, offset);
                match address.into() {
                    // A pointer in the file, which a jump may use.
                    AbstractValue::Constant(address) => {
                        let element =
                            tables.element(address.cast_unsigned(), 8, Extension::Zero, Some(0));
                        self.set(to, element);
                    }
                    AbstractValue::Address(_) => self.load(to, self.stack.load(address)),
                    _ => self.put(to, PackedValue::UNKNOWN),
                }
            }
            Effect::Element { to, base, offset, index, scale, size, extension } => {
                let base = self.address(base, offset).into();
                let value = match array(base, self.get(index), scale, size) {
                    Some((start, most)) => {
                        tables.element(start.cast_unsigned(), size, extension, most)
                    }
                    None => AbstractValue::Unknown,
                };
                self.set(to, value);
            }
            Effect::Store { from, base, offset, size } => {
                self.stack.store(self.address(base, offset), size, self.packed(from));
            }
            Effect::Fill { base } => self.stack.fill(self.packed(base)),
            Effect::Call(set) => {
                self.clobber(set);
                self.stack.lose_below(self.sp());
            }
            Effect::SystemCall { number, clone, stack, ends, clobbers } => {
                let called = self.get(number);
                self.has_ended |=
                    ends.iter().any(|end| called == AbstractValue::Constant((*end).into()));
                let keeps_stack = self.get(stack) == AbstractValue::Constant(0);
                let is_clone = called == AbstractValue::Constant(clone.into());
                if is_clone && !keeps_stack || called == CLONE3 {
                    self.set(self.sp, AbstractValue::Unknown);
                }
                self.clobber(clobbers);
            }
            Effect::Compare { a, b } => self.compare(Compared::Registers(a, b)),
            Effect::CompareNumber { a, number } => self.compare(Compared::Number(a, number)),
            Effect::Sign(key) => {
                let signed = match self.get(self.ra) {
                    AbstractValue::Entry(register) if register == self.ra => {
                        AbstractValue::Signed(key)
                    }
                    _ => AbstractValue::Unknown,
                };
                self.set(self.ra, signed);
            }
            Effect::Authenticate(key) => {
                let plain = match self.get(self.ra) {
                    AbstractValue::Signed(with) if with == key => AbstractValue::Entry(self.ra),
                    _ => AbstractValue::Unknown,
                };
                self.set(self.ra, plain);
            }
            Effect::NamedByDirective => {}
            Effect::Strip => {
                if let AbstractValue::Signed(_) = self.get(self.ra) {
                    self.set(self.ra, AbstractValue::Entry(self.ra));
                }
            }
        }
    }

    fn clobber(&mut self, set: u32) {
        let set = RegisterSet::of_set(set);
        let mut kept = set.and(self.frame.with(self.kept.and(self.known)));
        let mut rest = set.and(self.known);
        while let Some(register) = rest.pop() {
            if let Some(known) = self.registers.get_mut(usize::from(register)) {
                *known = PackedValue::UNKNOWN;
            }
        }
        self.known = self.known.without(set);
        self.written = self.written.with(set);
        if self.in_comparison.meet(set) {
            self.compare(Compared::Nothing);
        }
        while let Some(register) = kept.pop() {
            self.put(register, PackedValue::UNKNOWN);
        }
    }

    /// Whether a conditional branch refines the state.
    pub(in crate::code) const fn learns_from(&self, condition: Condition) -> bool {
        match condition {
            Condition::Equal | Condition::NotEqual => {
                matches!(self.compared, Compared::Registers(..))
            }
            Condition::Other => false,
            _ => matches!(self.compared, Compared::Number(..)),
        }
    }

    /// Refines the state by a condition that is true. Returns whether it can be.
    pub(in crate::code) fn refine(&mut self, condition: Condition) -> bool {
        match condition {
            Condition::Equal => return self.equal(),
            Condition::BelowOrEqual => self.is_below(0),
            Condition::Below => self.is_below(1),
            _ => {}
        }
        true
    }

    /// The numbers compared are equal: if one is known, so is the other. Returns whether they can be equal.
    fn equal(&mut self) -> bool {
        let Compared::Registers(a, b) = self.compared else { return true };
        match (self.get(a), self.get(b)) {
            (AbstractValue::Address(a), AbstractValue::Address(b)) => {
                a.base != b.base || a.offset == b.offset
            }
            (
                known @ AbstractValue::Address(_),
                AbstractValue::Unknown | AbstractValue::Overwritten,
            ) => {
                self.set(b, known);
                true
            }
            (
                AbstractValue::Unknown | AbstractValue::Overwritten,
                known @ AbstractValue::Address(_),
            ) => {
                self.set(a, known);
                true
            }
            _ => true,
        }
    }

    /// The number compared is below the one that it is compared with, by `distance` or more.
    fn is_below(&mut self, distance: u32) {
        let Compared::Number(register, number) = self.compared else { return };
        let Some(most) = number.checked_sub(distance) else { return };
        // The entry value of FP is no index.
        let is_fp = |entry| self.frame.meet(RegisterSet::of(entry));
        let may_be_index = match self.get(register) {
            AbstractValue::Unknown | AbstractValue::Overwritten | AbstractValue::AtMost(_) => true,
            AbstractValue::Entry(entry) => !is_fp(entry),
            _ => false,
        };
        if may_be_index {
            self.set(register, AbstractValue::AtMost(most));
        }
    }
}

/// The start of the array that has an element of `size` bytes at `base + index * scale`, and the element's maximum index.
fn array(
    base: AbstractValue,
    index: AbstractValue,
    scale: u8,
    size: u8,
) -> Option<(i64, Option<u32>)> {
    match (base, index) {
        (AbstractValue::Constant(start), AbstractValue::ScaledIndex(distance))
        | (AbstractValue::ScaledIndex(distance), AbstractValue::Constant(start))
            if scale == 1 && distance.size == size =>
        {
            Some((start, distance.most))
        }
        (AbstractValue::Constant(start), _) if scale == size => Some((start, index.most())),
        _ => None,
    }
}

fn add(
    a: AbstractValue,
    b: AbstractValue,
    shift: u8,
    extension: Extension,
    tables: &mut JumpTables,
) -> AbstractValue {
    match (a, b) {
        (AbstractValue::Constant(base), AbstractValue::Element(table))
        | (AbstractValue::Element(table), AbstractValue::Constant(base)) => {
            tables.target(table, base.cast_unsigned(), shift, extension)
        }
        (value, AbstractValue::Constant(number)) if shift == 0 => value.plus(number),
        (AbstractValue::Constant(number), value) if shift == 0 => value.plus(number),
        _ => AbstractValue::Unknown,
    }
}
